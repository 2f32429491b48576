// Random numbers drawn by examples: they differ between epochs and loaders, but do not depend on
// the number of workers.
#include <gtest/gtest.h>

#include "hearth/data.h"
#include "hearth/data/chunk.h"
#include "hearth/generator.h"
#include "hearth/operators.h"

namespace hearth::data {
namespace {

/// Each example is a random number.
struct Random : datasets::Dataset<Random, double> {
  explicit Random(size_t count_) : count(count_) {}
  double get(size_t) override { return rand({}, kDouble).item<double>(); }
  std::optional<size_t> size() const override { return count; }
  size_t count;
};

auto random_loader(size_t count, size_t workers = 0) {
  return make_data_loader<samplers::SequentialSampler>(Random(count),
                                                       DataLoaderOptions(2).workers(workers));
}

template <class Loader>
std::vector<double> numbers_of_epoch(Loader& loader) {
  std::vector<double> numbers;
  for (auto& batch : loader) numbers.insert(numbers.end(), batch.begin(), batch.end());
  return numbers;
}

TEST(Seeds, AdvanceTheDefaultGeneratorOncePerEpoch) {
  manual_seed(2);
  (void)empty({}, kLong).random_();
  const Tensor expected = default_generator().get_state();
  for (const size_t workers : {0, 3}) {
    manual_seed(2);
    auto loader = random_loader(20, workers);
    auto batch = loader->begin();
    (void)*batch;
    EXPECT_TRUE(default_generator().get_state().equal(expected));
    while (++batch != loader->end()) continue;
    EXPECT_TRUE(default_generator().get_state().equal(expected));
  }
}

TEST(Seeds, LeaveTheDefaultGeneratorUnchangedWithoutDraws) {
  manual_seed(2);
  const Tensor before = default_generator().get_state();
  for (const size_t workers : {0, 3}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        datasets::TensorDataset(arange(10)), DataLoaderOptions(2).workers(workers));
    for (auto& batch : *loader) EXPECT_EQ(batch.size(), 2U);
    EXPECT_TRUE(default_generator().get_state().equal(before));
  }
}

TEST(Seeds, ResumedEpochDoesNotAdvanceTheGenerator) {
  manual_seed(2);
  auto loader = random_loader(8);
  (void)*loader->begin();
  const serialize::OutputArchive saved = loader->state_dict();
  const Tensor state = default_generator().get_state();
  auto other = random_loader(8);
  other->load_state_dict(saved);
  EXPECT_EQ(numbers_of_epoch(*other).size(), 6U);
  EXPECT_TRUE(default_generator().get_state().equal(state));
}

TEST(Seeds, NewLoaderInEachEpochDrawsOtherNumbers) {
  for (const size_t workers : {0, 2}) {
    manual_seed(1);
    auto first = random_loader(6, workers);
    const std::vector<double> before = numbers_of_epoch(*first);
    auto second = random_loader(6, workers);
    EXPECT_NE(numbers_of_epoch(*second), before);
  }
}

TEST(Seeds, ConcurrentLoadersDiffer) {
  manual_seed(1);
  auto one = random_loader(6), other = random_loader(6);
  auto a = one->begin(), b = other->begin();
  EXPECT_NE(*a, *b);
}

/// Each example runs its own loader.
struct Nested : datasets::Dataset<Nested, std::vector<double>> {
  std::vector<double> get(size_t) override {
    auto inner = random_loader(3);
    return numbers_of_epoch(*inner);
  }
  std::optional<size_t> size() const override { return 4; }
};

TEST(Seeds, NestedLoadersDifferBetweenExamples) {
  std::vector<std::vector<double>> expected;
  for (const size_t workers : {0, 2}) {
    manual_seed(7);
    auto loader = make_data_loader<samplers::SequentialSampler>(
        Nested(), DataLoaderOptions(1).workers(workers));
    std::vector<std::vector<double>> examples;
    for (auto& batch : *loader) examples.push_back(batch[0]);
    ASSERT_EQ(examples.size(), 4U);
    EXPECT_NE(examples[0], examples[1]);
    EXPECT_NE(examples[1], examples[2]);
    if (workers == 0) expected = examples;
    EXPECT_EQ(examples, expected);
  }
}

struct OneChunk : datasets::ChunkDataReader<double> {
  ChunkType read_chunk(size_t) override { return {rand({}, kDouble).item<double>()}; }
  size_t chunk_count() override { return 1; }
  void reset() override {}
};

TEST(Seeds, ChunksOfNewDatasetsDiffer) {
  using Chunks =
      datasets::ChunkDataset<OneChunk, samplers::SequentialSampler, samplers::SequentialSampler>;
  const auto first = [] {
    Chunks chunks(OneChunk(), samplers::SequentialSampler(1), samplers::SequentialSampler(0),
                  {1, 1, 1});
    chunks.reset();
    return chunks.get_batch().value()[0];
  };
  manual_seed(1);
  const double one = first(), other = first();
  EXPECT_NE(one, other);
  manual_seed(1);
  EXPECT_EQ(first(), one);
}

/// One chunk of a fixed number and one of a random number.
struct LateDraw : datasets::ChunkDataReader<double> {
  ChunkType read_chunk(size_t index) override {
    return {index == 0 ? 2 : rand({}, kDouble).item<double>()};
  }
  size_t chunk_count() override { return 2; }
  void reset() override {}
};
using LateDraws =
    datasets::ChunkDataset<LateDraw, samplers::SequentialSampler, samplers::SequentialSampler>;

TEST(Seeds, ChunksAdvanceTheGeneratorWhenTheirNumbersAreTaken) {
  manual_seed(1);
  const Tensor before = default_generator().get_state();
  LateDraws chunks(LateDraw(), samplers::SequentialSampler(2), samplers::SequentialSampler(0),
                   {1, 1, 8});
  chunks.reset();
  (void)chunks.get_batch();
  EXPECT_TRUE(default_generator().get_state().equal(before));
  const double drawn = chunks.get_batch().value()[0];
  EXPECT_FALSE(default_generator().get_state().equal(before));
  EXPECT_FALSE(chunks.get_batch().has_value());
  chunks.reset();
  (void)chunks.get_batch();
  EXPECT_NE(chunks.get_batch().value()[0], drawn);
}

TEST(Seeds, SimultaneousChunksDiffer) {
  LateDraws one(LateDraw(), samplers::SequentialSampler(2), samplers::SequentialSampler(0),
                {1, 2, 8});
  LateDraws other(LateDraw(), samplers::SequentialSampler(2), samplers::SequentialSampler(0),
                  {1, 2, 8});
  one.reset();
  other.reset();
  EXPECT_NE(one.get_batch().value()[1], other.get_batch().value()[1]);
}

}  // namespace
}  // namespace hearth::data
