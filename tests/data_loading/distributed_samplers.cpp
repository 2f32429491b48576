// Samplers of several processes. The expected lists of indices come from LibTorch.
#include <gtest/gtest.h>

#include "hearth/data.h"
#include "hearth/operators.h"
#include "tests/support/indices.h"
#include "tests/support/throws.h"

namespace hearth::data::samplers {
namespace {

using testing::Batches;
using testing::copy_state;
using testing::rest_of;

TEST(DistributedSequentialSampler, ChoosesTheIndicesOfItsRankAsLibTorch) {
  DistributedSequentialSampler sampler(10, 3, 2), fewer(10, 3, 2, false), last_rank(12, 5, 4);
  EXPECT_EQ(sampler.index(), 8U);
  EXPECT_EQ(rest_of(sampler, 3), (Batches{{8, 9, 0}, {1}}));
  EXPECT_EQ(sampler.index(), 12U);
  sampler.reset(19);
  EXPECT_EQ(rest_of(sampler, 4), (Batches{{14, 15, 16, 17}, {18, 0, 1}}));
  EXPECT_EQ(rest_of(fewer, 3), (Batches{{6, 7, 8}}));
  EXPECT_EQ(rest_of(last_rank, 3), (Batches{{0, 1, 2}}));
}

TEST(DistributedRandomSampler, ShufflesByTheEpochAsLibTorch) {
  DistributedRandomSampler sampler(10, 3, 2), fewer(11, 3, 1, false);
  EXPECT_EQ(sampler.epoch(), 0U);
  EXPECT_EQ(rest_of(sampler, 3), (Batches{{6, 0, 3}, {8}}));
  sampler.set_epoch(7);
  EXPECT_EQ(sampler.epoch(), 7U);
  EXPECT_FALSE(sampler.next(1));
  sampler.reset();
  EXPECT_EQ(sampler.index(), 8U);
  EXPECT_EQ(rest_of(sampler, 100), (Batches{{4, 1, 0, 9}}));
  EXPECT_EQ(sampler.index(), 12U);
  sampler.reset(19);
  EXPECT_EQ(rest_of(sampler, 4), (Batches{{0, 1, 10, 17}, {11, 5, 2}}));
  EXPECT_EQ(rest_of(fewer, 3), (Batches{{0, 5, 1}}));
  DistributedRandomSampler large(1000, 4, 2);
  EXPECT_EQ(large.next(6), (std::vector<size_t>{810, 968, 712, 598, 742, 599}));
  large.set_epoch(4294967299);  // the shuffle uses the lower 32 bits
  large.reset();
  EXPECT_EQ(large.next(6), (std::vector<size_t>{931, 397, 513, 581, 356, 950}));
}

/// LibTorch returns indices beyond the dataset here.
TEST(DistributedSamplers, RepeatExamplesIfThereAreMoreProcesses) {
  for (size_t rank = 0; rank < 5; ++rank) {
    DistributedRandomSampler random(2, 5, rank);
    DistributedSequentialSampler sequential(2, 5, rank);
    EXPECT_LT(random.next(9)->front(), 2U);
    EXPECT_EQ(sequential.next(9)->front(), rank % 2);
    EXPECT_FALSE(DistributedRandomSampler(2, 5, rank, false).next(1));
    EXPECT_FALSE(DistributedRandomSampler(0, 5, rank).next(1));
    EXPECT_FALSE(DistributedSequentialSampler(0, 5, rank).next(1));
  }
}

/// Together, the processes draw each index once.
TEST(DistributedSamplers, CoverTheDatasetOnce) {
  std::vector<int> counts(12);
  for (size_t rank = 0; rank < 4; ++rank) {
    DistributedRandomSampler sampler(12, 4, rank);
    for (const auto& batch : rest_of(sampler, 2))
      for (const size_t index : batch) ++counts[index];
  }
  EXPECT_EQ(counts, std::vector<int>(12, 1));
}

TEST(DistributedSamplers, RefuseInvalidRanks) {
  EXPECT_ERROR(DistributedRandomSampler(10, 3, 3),
               "Invalid rank 3, rank should be in the interval [0, 2]");
  EXPECT_ERROR(DistributedSequentialSampler(10, 0, 0),
               "Invalid rank 0, rank should be in the interval [0, -1]");
  EXPECT_THROW(DistributedSequentialSampler(10, 2, 5), ValueError);
}

/// Every `num_replicas`-th index, from `rank` on.
struct Interleaved : DistributedSampler<> {
  using DistributedSampler::DistributedSampler;
  void reset(std::optional<size_t>) override { next_ = 0; }
  std::optional<std::vector<size_t>> next(size_t) override {
    if (next_ == local_sample_count()) return std::nullopt;
    return std::vector<size_t>{rank_ + num_replicas_ * next_++};
  }
  void save(serialize::OutputArchive&) const override {}
  void load(serialize::InputArchive&) override {}
  size_t next_ = 0;
};

TEST(DistributedSamplers, CanBeDerivedFrom) {
  Interleaved sampler(7, 2, 1, false);
  EXPECT_EQ(rest_of(sampler, 1), (Batches{{1}, {3}, {5}}));
  EXPECT_ERROR(Interleaved(7, 2, 2), "Invalid rank 2");
}

TEST(DistributedSamplers, ContinueFromSavedStates) {
  DistributedRandomSampler random(23, 3, 1);
  random.set_epoch(5);
  random.reset();
  random.set_epoch(6);  // takes effect at the next reset
  testing::expect_continues(random, DistributedRandomSampler(23, 3, 1), 3);
  testing::expect_continues(DistributedSequentialSampler(23, 3, 2),
                            DistributedSequentialSampler(23, 3, 2), 3);
}

TEST(DistributedSamplers, LoadTheStateOfAnotherProcess) {
  DistributedRandomSampler first(24, 3, 0), second(24, 3, 2), loaded(24, 3, 2);
  for (auto* sampler : {&first, &second}) {
    sampler->set_epoch(3);
    sampler->reset();
    (void)sampler->next(5);
  }
  copy_state(first, loaded);
  EXPECT_EQ(loaded.epoch(), 3U);
  EXPECT_EQ(loaded.index(), second.index());
  EXPECT_EQ(rest_of(loaded, 4), rest_of(second, 4));
}

TEST(DistributedSamplers, RejectStatesOfOtherSamplers) {
  const DistributedRandomSampler saved(24, 3, 0);
  DistributedRandomSampler size(25, 3, 0), replicas(24, 4, 0), duplicates(24, 3, 0, false);
  EXPECT_ERROR(copy_state(saved, size), "saved for 24 examples; this sampler has 25");
  EXPECT_ERROR(copy_state(saved, replicas), "saved for 3 replicas; this sampler has 4");
  EXPECT_ERROR(copy_state(saved, duplicates), "was saved with allow_duplicates=true");
}

TEST(DistributedSamplers, LoadersContinueWithWorkers) {
  testing::expect_loader_continues(
      25, [] { return DistributedRandomSampler(25, 2, 1); }, 3);
  testing::expect_loader_continues(
      25, [] { return DistributedSequentialSampler(25, 2, 1, false); }, 3);
}

TEST(DistributedSamplers, LoadersShuffleByTheEpoch) {
  auto loader = make_data_loader<DistributedRandomSampler>(testing::Count(40),
                                                           DataLoaderOptions(7).workers(2));
  const Batches first = testing::epoch_of(*loader), again = testing::epoch_of(*loader);
  loader->sampler().set_epoch(1);
  const Batches second = testing::epoch_of(*loader);
  EXPECT_EQ(again, first);
  EXPECT_NE(second, first);
}

}  // namespace
}  // namespace hearth::data::samplers
