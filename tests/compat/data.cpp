#include <gtest/gtest.h>
#include <torch/torch.h>

// Datasets, samplers, loaders and archives as LibTorch programs use them.

namespace {

struct Squares : torch::data::Dataset<Squares> {
  explicit Squares(int64_t count) : count_(count) {}
  torch::data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {torch::full({2}, static_cast<double>(i)), torch::full({1}, static_cast<double>(i * i))};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(count_); }

 private:
  int64_t count_;
};

TEST(Data, LoaderReturnsBatches) {
  auto dataset =
      Squares(10)
          .map(torch::data::transforms::TensorLambda<>([](torch::Tensor t) { return t.mul(2); }))
          .map(torch::data::transforms::Stack<>());
  const size_t size = dataset.size().value();
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(4).workers(2));
  size_t count = 0;
  for (torch::data::Example<>& batch : *loader) {
    EXPECT_EQ(batch.data[0][0].item<double>(), 2.0 * static_cast<double>(count));
    EXPECT_EQ(batch.target[0].item<double>(), static_cast<double>(count * count));
    count += static_cast<size_t>(batch.data.size(0));
  }
  EXPECT_EQ(count, size);
}

/// The remaining indices of a sampler.
template <class Sampler>
std::vector<size_t> rest_of(Sampler& sampler) {
  std::vector<size_t> indices;
  while (const torch::optional<std::vector<size_t>> batch = sampler.next(2))
    indices.insert(indices.end(), batch->begin(), batch->end());
  return indices;
}

TEST(Data, DistributedSamplersChooseTheIndicesOfTheirRank) {
  namespace samplers = torch::data::samplers;
  samplers::DistributedRandomSampler random(10, /*num_replicas=*/3, /*rank=*/2);
  EXPECT_EQ(random.index(), 8U);
  EXPECT_EQ(rest_of(random), (std::vector<size_t>{6, 0, 3, 8}));
  random.set_epoch(7);
  random.reset();
  samplers::DistributedSampler<>& base = random;
  EXPECT_EQ(base.epoch(), 7U);
  EXPECT_EQ(rest_of(base), (std::vector<size_t>{4, 1, 0, 9}));
  samplers::DistributedSequentialSampler few(10, 3, 2, /*allow_duplicates=*/false);
  EXPECT_EQ(rest_of(few), (std::vector<size_t>{6, 7, 8}));
  few.reset(20);
  EXPECT_EQ(few.index(), 12U);
}

TEST(Data, DistributedSamplersContinue) {
  torch::data::samplers::DistributedRandomSampler first(23, 3, 1), second(23, 3, 1);
  first.set_epoch(5);
  first.reset();
  first.next(3);
  torch::serialize::OutputArchive saved;
  first.save(saved);
  std::stringstream stream;
  saved.save_to(stream);
  torch::serialize::InputArchive read;
  read.load_from(stream);
  second.load(read);
  EXPECT_EQ(second.epoch(), 5U);
  EXPECT_EQ(second.index(), first.index());
  EXPECT_EQ(rest_of(second), rest_of(first));
}

TEST(Data, ShufflesLikePyTorch) {
  torch::manual_seed(0);
  auto loader = torch::data::make_data_loader(
      torch::data::datasets::TensorDataset(torch::arange(8)), /*batch_size=*/8);
  std::vector<int64_t> order;
  for (auto& batch : *loader)
    for (auto& example : batch) order.push_back(example.data.item<int64_t>());
  torch::manual_seed(0);
  torch::randperm(8);  // drawn by the sampler's constructor
  const torch::Tensor expected = torch::randperm(8);
  EXPECT_TRUE(torch::tensor(order).equal(expected));
}

TEST(Data, IteratorsThrowPastTheEnd) {
  auto loader = torch::data::make_data_loader(Squares(1), torch::data::DataLoaderOptions(1));
  auto end = loader->end();
  EXPECT_THROW(++end, c10::Error);
  auto it = loader->begin();
  ++it;
  EXPECT_TRUE(it == end);
  try {
    *it;
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("past the end"), std::string::npos);
  }
}

struct State {
  torch::Tensor weight = torch::zeros({2});
  void save(torch::serialize::OutputArchive& archive) const {
    torch::serialize::OutputArchive nested;
    nested.write("weight", weight);
    nested.write("step", c10::IValue(int64_t{3}));
    archive.write("inner", nested);
  }
  void load(torch::serialize::InputArchive& archive) {
    torch::serialize::InputArchive nested;
    archive.read("inner", nested);
    nested.read("weight", weight);
    c10::IValue step;
    nested.read("step", step);
    EXPECT_EQ(step.toInt(), 3);
    EXPECT_FALSE(nested.try_read("bias", weight));
    EXPECT_THROW(nested.read("bias", weight), c10::Error);
  }
};

TEST(Serialize, RoundTripsTensorsThroughStreamsAndFiles) {
  const torch::Tensor x = torch::randn({3, 2});
  std::stringstream stream;
  torch::save(x, stream);
  torch::Tensor y;
  torch::load(y, stream);
  EXPECT_TRUE(y.defined() && x.equal(y));

  const std::string path = testing::TempDir() + "/hearth_compat_tensors.pt";
  torch::save(std::vector<torch::Tensor>{x, x.t()}, path);
  std::vector<torch::Tensor> list;
  torch::load(list, path);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_TRUE(list[1].equal(x.t()));
  std::remove(path.c_str());
}

TEST(Serialize, ArchivesNest) {
  State state;
  state.weight.fill_(4);
  torch::serialize::OutputArchive out;
  state.save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  State loaded;
  loaded.load(in);
  EXPECT_TRUE(loaded.weight.equal(state.weight));
}

}  // namespace
