// What examples draw: other numbers in each epoch and each loader, the same for any number of
// workers.
#include <gtest/gtest.h>

#include "hearth/data.h"
#include "hearth/generator.h"
#include "hearth/operators.h"

namespace hearth::data {
namespace {

/// Each example is a number drawn.
struct Drawn : datasets::Dataset<Drawn, double> {
  explicit Drawn(size_t count_) : count(count_) {}
  double get(size_t) override { return rand({}, kDouble).item<double>(); }
  std::optional<size_t> size() const override { return count; }
  size_t count;
};

auto drawing(size_t count, size_t workers = 0) {
  return make_data_loader<samplers::SequentialSampler>(Drawn(count),
                                                       DataLoaderOptions(2).workers(workers));
}

template <class Loader>
std::vector<double> epoch(Loader& loader) {
  std::vector<double> all;
  for (auto& batch : loader) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(Seeds, MoveTheDefaultGeneratorOnOnceWhereExamplesDraw) {
  manual_seed(2);
  (void)empty({}, kLong).random_();
  const Tensor expected = default_generator().get_state();
  for (const size_t workers : {0, 3}) {
    manual_seed(2);
    auto loader = drawing(20, workers);
    auto batch = loader->begin();
    (void)*batch;
    EXPECT_TRUE(default_generator().get_state().equal(expected));
    while (++batch != loader->end()) continue;
    EXPECT_TRUE(default_generator().get_state().equal(expected));
  }
}

TEST(Seeds, LeaveTheDefaultGeneratorToTheProgramElsewhere) {
  manual_seed(2);
  const Tensor before = default_generator().get_state();
  for (const size_t workers : {0, 3}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        datasets::TensorDataset(arange(10)), DataLoaderOptions(2).workers(workers));
    for (auto& batch : *loader) EXPECT_EQ(batch.size(), 2U);
    EXPECT_TRUE(default_generator().get_state().equal(before));
  }
}

TEST(Seeds, AResumedEpochMovesTheGeneratorOnNoMore) {
  manual_seed(2);
  auto loader = drawing(8);
  (void)*loader->begin();
  const serialize::OutputArchive place = loader->state_dict();
  const Tensor state = default_generator().get_state();
  auto other = drawing(8);
  other->load_state_dict(place);
  EXPECT_EQ(epoch(*other).size(), 6U);
  EXPECT_TRUE(default_generator().get_state().equal(state));
}

TEST(Seeds, ALoaderMadeInEachEpochRepeatsNothing) {
  for (const size_t workers : {0, 2}) {
    manual_seed(1);
    auto first = drawing(6, workers);
    const std::vector<double> before = epoch(*first);
    auto second = drawing(6, workers);
    EXPECT_NE(epoch(*second), before);
  }
}

TEST(Seeds, LoadersSideBySideDiffer) {
  manual_seed(1);
  auto one = drawing(6), other = drawing(6);
  auto a = one->begin(), b = other->begin();
  EXPECT_NE(*a, *b);
}

/// Each example goes through a loader of its own.
struct Nested : datasets::Dataset<Nested, std::vector<double>> {
  std::vector<double> get(size_t) override {
    auto inner = drawing(3);
    return epoch(*inner);
  }
  std::optional<size_t> size() const override { return 4; }
};

TEST(Seeds, NestedLoadersDifferInEachExample) {
  std::vector<std::vector<double>> expected;
  for (const size_t workers : {0, 2}) {
    manual_seed(7);
    auto loader = make_data_loader<samplers::SequentialSampler>(
        Nested(), DataLoaderOptions(1).workers(workers));
    std::vector<std::vector<double>> all;
    for (auto& batch : *loader) all.push_back(batch[0]);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_NE(all[0], all[1]);
    EXPECT_NE(all[1], all[2]);
    if (workers == 0) expected = all;
    EXPECT_EQ(all, expected);
  }
}

struct OneChunk : datasets::ChunkDataReader<double> {
  ChunkType read_chunk(size_t) override { return {rand({}, kDouble).item<double>()}; }
  size_t chunk_count() override { return 1; }
  void reset() override {}
};

TEST(Seeds, ChunksOfANewDatasetDiffer) {
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

}  // namespace
}  // namespace hearth::data
