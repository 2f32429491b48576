// Datasets, transforms and samplers.
#include <gtest/gtest.h>

#include "hearth/cuda.h"
#include "hearth/data.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::data {
namespace {

/// Example i is {i, -i}.
struct Numbers : datasets::Dataset<Numbers> {
  explicit Numbers(size_t count_) : count(count_) {}
  Example<> get(size_t index) override {
    return {scalar_tensor(int64_t(index), kLong), scalar_tensor(-int64_t(index), kLong)};
  }
  std::optional<size_t> size() const override { return count; }
  size_t count;
};

TEST(Datasets, BatchedTensorsSelectWholeBatches) {
  const Tensor data = arange(24, kFloat).view({4, 2, 1, 3}), targets = arange(4, kLong);
  auto dataset = datasets::BatchedTensors(data, targets)
                     .map(transforms::WholeBatch(transforms::Normalize<>({1, 2}, {2, 4})));
  const Example<> batch = dataset.get_batch({2, 0, 2});
  const Tensor expected = data.index_select(0, tensor({2, 0, 2}))
                              .sub(tensor({1.0f, 2.0f}).view({2, 1, 1}))
                              .div(tensor({2.0f, 4.0f}).view({2, 1, 1}));
  EXPECT_TRUE(batch.data.equal(expected));
  EXPECT_TRUE(batch.target.equal(tensor({2, 0, 2})));
  EXPECT_ERROR(dataset.get_batch({4}), "index out of range in self (index 4");
  EXPECT_ERROR(datasets::BatchedTensors(data, arange(3)), "Size mismatch between tensors");
  if (cuda::is_available()) {
    const Example<> on_gpu = datasets::BatchedTensors(data.to(kCUDA), targets).get_batch({2, 3});
    EXPECT_TRUE(on_gpu.data.cpu().equal(data.slice(0, 2)));
    EXPECT_TRUE(on_gpu.target.equal(tensor({2, 3})));
  }
  size_t count = 0;
  auto loader = make_data_loader(std::move(dataset), DataLoaderOptions().batch_size(3).workers(2));
  for (const Example<>& loaded : *loader) count += size_t(loaded.data.size(0));
  EXPECT_EQ(count, 4u);
}

TEST(Datasets, MapAppliesTransformsInOrder) {
  auto dataset = Numbers(10)
                     .map(transforms::Lambda<Example<>>(
                         [](Example<> e) { return Example<>(e.data * 2, e.target); }))
                     .map(transforms::TensorLambda<>([](const Tensor& t) { return t + 1; }))
                     .map(transforms::Stack<>());
  const std::vector<size_t> indices = {3, 1};
  const Example<> batch = dataset.get_batch(indices);
  EXPECT_TRUE(batch.data.equal(tensor({7, 3})));
  EXPECT_TRUE(batch.target.equal(tensor({-3, -1})));
  EXPECT_EQ(dataset.size(), 10U);
}

TEST(Datasets, ApplyCollateAndBatchLambda) {
  auto dataset = Numbers(4)
                     .map(transforms::Collate<Example<>>([](std::vector<Example<>> examples) {
                       return std::move(examples.back());
                     }))
                     .map(transforms::BatchLambda<Example<>, int64_t>(
                         [](const Example<>& e) { return e.data.item<int64_t>(); }));
  const std::vector<size_t> indices = {0, 2};
  EXPECT_EQ(dataset.get_batch(indices), 2);
}

TEST(Datasets, TensorDatasetCanBeShared) {
  datasets::TensorDataset rows(std::vector<Tensor>{ones({2}), zeros({2})});
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows.get(1).data.equal(zeros({2})));
  auto shared = datasets::make_shared_dataset<datasets::TensorDataset>(arange(4));
  auto stacked = shared.map(transforms::Stack<TensorExample>());
  const std::vector<size_t> indices = {2, 0};
  EXPECT_TRUE(stacked.get_batch(indices).data.equal(tensor({2, 0})));
  EXPECT_EQ(shared->tensor.numel(), 4);
  EXPECT_EQ((*shared).size(), 4U);
}

TEST(Transforms, NormalizeAndConvertImages) {
  transforms::Normalize<> normalize({0.5, 1}, {0.5, 2});
  const Tensor image = ones({2, 2, 3});
  const Tensor expected = stack({full({2, 3}, 1.F), zeros({2, 3})});
  EXPECT_TRUE(normalize(image).equal(expected));
  EXPECT_TRUE(transforms::Normalize<>(0.5, 0.25)(ones({1, 2, 2})).equal(full({1, 2, 2}, 2.F)));

  transforms::ToTensor<> to_tensor;
  const Tensor rows = arange(12, kByte).view({2, 2, 3}), planes = to_tensor(rows);
  EXPECT_EQ(planes.sizes(), IntArrayRef({3, 2, 2}));
  EXPECT_TRUE(planes.is_contiguous());
  EXPECT_EQ(planes[1][1][0].item<float>(), 7.F / 255);
  EXPECT_EQ(to_tensor(full({4, 5}, 255, kByte)).sizes(), IntArrayRef({1, 4, 5}));
  EXPECT_TRUE(to_tensor(ones({4, 5}, kDouble)).equal(ones({1, 4, 5}, kDouble)));
  EXPECT_ERROR(to_tensor(ones({4})), "pic should be 2/3 dimensional. Got 1 dimensions.");
}

TEST(Samplers, SequentialReturnsIndicesInOrder) {
  samplers::SequentialSampler sampler(5);
  EXPECT_EQ(*sampler.next(2), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(*sampler.next(4), (std::vector<size_t>{2, 3, 4}));
  EXPECT_FALSE(sampler.next(2));
  sampler.reset(2);
  EXPECT_EQ(sampler.next(9)->size(), 2U);
  EXPECT_EQ(sampler.index(), 2U);
}

/// As in LibTorch, the constructor and each reset draw a permutation with randperm.
TEST(Samplers, RandomDrawsTheNumbersOfPyTorch) {
  for (const ScalarType type : {kLong, kInt}) {
    manual_seed(5);
    const Tensor first = randperm(7, type), second = randperm(7, type), third = randperm(3, type);
    manual_seed(5);
    samplers::RandomSampler sampler(7, type);
    const auto next_indices = [&] {
      const std::vector<size_t> indices = *sampler.next(100);
      return tensor(std::vector<int64_t>(indices.begin(), indices.end()));
    };
    EXPECT_TRUE(next_indices().equal(first.to(kLong)));
    EXPECT_FALSE(sampler.next(1));
    sampler.reset();
    EXPECT_TRUE(next_indices().equal(second.to(kLong)));
    sampler.reset(3);
    EXPECT_TRUE(next_indices().equal(third.to(kLong)));
    EXPECT_EQ(sampler.index(), 3U);
  }
}

TEST(Samplers, StreamCountsExamples) {
  samplers::StreamSampler sampler(5);
  EXPECT_EQ(sampler.next(3)->size(), 3U);
  EXPECT_EQ(size_t(*sampler.next(3)), 2U);
  EXPECT_FALSE(sampler.next(3));
}

template <class Sampler>
void expect_resumes(Sampler sampler) {
  (void)sampler.next(3);
  serialize::OutputArchive saved;
  saved << sampler;
  Sampler other(10);
  serialize::InputArchive read(saved);
  read >> other;
  for (int i = 0; i < 4; ++i) {
    const auto ours = sampler.next(4), theirs = other.next(4);
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if constexpr (std::is_same_v<typename Sampler::BatchRequestType, std::vector<size_t>>) {
      EXPECT_EQ(ours, theirs);
    } else if (ours) {
      EXPECT_EQ(ours->size(), theirs->size());
    }
  }
}

TEST(Samplers, ResumeFromSavedStates) {
  expect_resumes(samplers::SequentialSampler(10));
  expect_resumes(samplers::RandomSampler(10));
  expect_resumes(samplers::StreamSampler(10));
}

TEST(Samplers, RejectInvalidStates) {
  const auto load = [](const Tensor& indices, int64_t index) {
    serialize::OutputArchive saved;
    saved.write("indices", indices);
    saved.write("index", index);
    serialize::InputArchive read(saved);
    samplers::RandomSampler(3).load(read);
  };
  EXPECT_EQ(testing::error_of([&] { load(arange(3), 2); }), "no error");
  EXPECT_ERROR(load(arange(3), 4), "position in the archive is 4 of 3");
  EXPECT_ERROR(load(arange(3), -1), "'index' is -1, which does not fit");
  EXPECT_ERROR(load(arange(1, 4), 0), "are not between 0 and 2");
  EXPECT_ERROR(load(ones({3}), 0), "not a vector of integers");
  EXPECT_ERROR(load(ones({3, 1}, kLong), 0), "not a vector of integers");
  EXPECT_ERROR(load(arange(4), 0), "was saved for 4 examples; this sampler has 3");
  EXPECT_ERROR(load(tensor({2, 0, 2}), 0), "in the archive have 2 twice");
}

template <class Sampler>
void load_into_another_size() {
  serialize::OutputArchive saved;
  saved << Sampler(4);
  serialize::InputArchive read(saved);
  Sampler(3).load(read);
}

TEST(Samplers, RejectStatesOfOtherSizes) {
  const std::string text = "the sampler's state was saved for 4 examples; this sampler has 3";
  EXPECT_ERROR(load_into_another_size<samplers::SequentialSampler>(), text);
  EXPECT_ERROR(load_into_another_size<samplers::RandomSampler>(), text);
  EXPECT_ERROR(load_into_another_size<samplers::StreamSampler>(), text);
}

TEST(Samplers, AcceptBatchSizesBeyondTheDataset) {
  EXPECT_EQ(samplers::RandomSampler(3).next(SIZE_MAX)->size(), 3U);
  EXPECT_EQ(samplers::SequentialSampler(3).next(SIZE_MAX)->size(), 3U);
}

}  // namespace
}  // namespace hearth::data
