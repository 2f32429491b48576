// WeightedRandomSampler, SubsetRandomSampler and BatchSampler. Lists of indices are PyTorch's.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/data.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/indices.h"
#include "tests/support/throws.h"

namespace hearth::data::samplers {
namespace {

using testing::Batches;
using testing::copy_state;
using testing::rest_of;
using Indices = std::vector<size_t>;

Generator seeded(uint64_t seed) {
  Generator generator = make_generator();
  generator.set_current_seed(seed);
  return generator;
}

/// The indices of one epoch.
template <class Sampler>
Indices all_of(Sampler& sampler) {
  Indices indices;
  for (const Indices& batch : rest_of(sampler, 2))
    indices.insert(indices.end(), batch.begin(), batch.end());
  return indices;
}
template <class Sampler>
Indices next_epoch(Sampler& sampler) {
  sampler.reset();
  return all_of(sampler);
}

TEST(WeightedRandomSampler, DrawsAsPyTorch) {
  manual_seed(5);
  WeightedRandomSampler sampler({0.1, 0.9, 0.4, 0.7, 3.0, 0.6}, 5);
  EXPECT_EQ(all_of(sampler), (Indices{4, 3, 3, 3, 3}));
  EXPECT_EQ(sampler.index(), 5U);
  EXPECT_EQ(next_epoch(sampler), (Indices{4, 4, 4, 4, 4}));

  WeightedRandomSampler distinct({0.9, 0.4, 0.05, 0.2, 0.3, 0.1}, 5, false, seeded(11));
  EXPECT_EQ(all_of(distinct), (Indices{0, 5, 4, 1, 3}));
  EXPECT_EQ(next_epoch(distinct), (Indices{0, 1, 3, 4, 5}));
  EXPECT_EQ(next_epoch(distinct).size(), 5U);
}

TEST(WeightedRandomSampler, DrawsManyAsPyTorch) {
  manual_seed(5);
  WeightedRandomSampler sampler(arange(1000, kDouble), 4000), distinct(arange(1000), 400, false);
  const auto weighted_sum = [](const Indices& indices) {
    size_t total = 0;
    for (size_t i = 0; i < indices.size(); ++i) total += i * indices[i];
    return total;
  };
  EXPECT_EQ(weighted_sum(all_of(sampler)), 5276897436U);
  EXPECT_EQ(weighted_sum(all_of(distinct)), 52156157U);
}

TEST(WeightedRandomSampler, RefusesBadArgumentsAsPyTorch) {
  const auto draw = [](const std::vector<double>& weights, int64_t count, bool replacement = true) {
    return WeightedRandomSampler(weights, count, replacement).next(1);
  };
  const std::string wrong = "probability tensor contains either `inf`, `nan` or element < 0";
  EXPECT_ERROR(draw({1, -1}, 1), wrong);
  EXPECT_ERROR(draw({1, NAN}, 1), wrong);
  EXPECT_ERROR(draw({1, INFINITY}, 1), wrong);
  EXPECT_ERROR(draw({}, 3), "invalid multinomial distribution (sum of probabilities <= 0)");
  EXPECT_ERROR(draw({0, 0}, 3), "invalid multinomial distribution (sum of probabilities <= 0)");
  EXPECT_ERROR(draw({1, 1}, 3, false),
               "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  EXPECT_ERROR(draw({}, 1, false), "cannot sample n_sample > prob_dist.size(-1) samples");
  EXPECT_ERROR(draw({1}, 0),
               "num_samples should be a positive integer value, but got num_samples=0");
  EXPECT_THROW(draw({1}, -3), ValueError);
  EXPECT_ERROR(WeightedRandomSampler(ones({2, 3}), 1),
               "weights should be a 1d sequence but given weights have shape (2, 3)");
  EXPECT_ERROR(WeightedRandomSampler(ones({}), 1), "have shape ()");
  EXPECT_ERROR(WeightedRandomSampler({1, 1}, 1).reset(3),
               "a sampler with 2 weights cannot choose among 3 examples");
}

TEST(SubsetRandomSampler, DrawsAsPyTorch) {
  manual_seed(5);
  SubsetRandomSampler sampler({3, 1, 4, 15, 9, 2, 6});
  EXPECT_EQ(all_of(sampler), (Indices{1, 3, 9, 4, 6, 2, 15}));
  EXPECT_EQ(next_epoch(sampler), (Indices{1, 6, 2, 15, 4, 9, 3}));
  SubsetRandomSampler own({3, 1, 4, 15, 9, 2, 6}, seeded(11));
  EXPECT_EQ(all_of(own), (Indices{9, 3, 4, 6, 15, 1, 2}));
  SubsetRandomSampler empty(Indices{});
  EXPECT_FALSE(empty.next(1));
  EXPECT_ERROR(sampler.reset(15), "the sampler's subset has indices beyond the 15 examples");
  sampler.reset(16);
}

TEST(BatchSampler, MakesBatchesAsPyTorch) {
  const Batches expected = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9}};
  BatchSampler keeping_last(SequentialSampler(10), 3, false),
      dropping_last(SequentialSampler(10), 3, true);
  EXPECT_EQ(rest_of(keeping_last, 1), expected);
  EXPECT_EQ(rest_of(dropping_last, 3), Batches(expected.begin(), expected.end() - 1));
  dropping_last.reset(4);
  EXPECT_EQ(rest_of(dropping_last, 1).size(), 1U);
  manual_seed(5);
  BatchSampler weighted(WeightedRandomSampler(arange(8), 7), 3, false);
  EXPECT_EQ(rest_of(weighted, 1), (Batches{{6, 4, 5}, {4, 4, 7}, {6}}));
}

/// Returns one index at a time and ignores the batch size.
struct Single : SequentialSampler {
  using SequentialSampler::SequentialSampler;
  std::optional<Indices> next(size_t) override { return SequentialSampler::next(1); }
};

TEST(BatchSampler, FillsBatchesFromSmallerOnes) {
  BatchSampler sampler(Single(5), 2, false);
  EXPECT_EQ(rest_of(sampler, 1), (Batches{{0, 1}, {2, 3}, {4}}));
}

TEST(BatchSampler, RefusesBadArgumentsAsPyTorch) {
  EXPECT_ERROR(BatchSampler(SequentialSampler(3), 0, false),
               "batch_size should be a positive integer value, but got batch_size=0");
  EXPECT_THROW(BatchSampler(SequentialSampler(3), -2, false), ValueError);
  auto loader = make_data_loader(testing::Count(9), BatchSampler(SequentialSampler(9), 2, false),
                                 DataLoaderOptions(3));
  EXPECT_ERROR(testing::epoch_of(*loader),
               "batch_sampler option is mutually exclusive with batch_size");
}

TEST(RandomSamplers, ContinueFromSavedStates) {
  const std::vector<double> weights = {1, 2, 3, 4, 5, 6, 7};
  testing::expect_continues(WeightedRandomSampler(weights, 9), WeightedRandomSampler(weights, 9),
                            2);
  testing::expect_continues(WeightedRandomSampler(weights, 6, false),
                            WeightedRandomSampler(weights, 6, false), 4);
  testing::expect_continues(SubsetRandomSampler({3, 5, 9, 5}), SubsetRandomSampler({3, 5, 9, 5}),
                            3);
}

TEST(RandomSamplers, StatesHaveTheSamplersOwnGenerator) {
  SubsetRandomSampler first({1, 2, 3, 4, 5, 6}, seeded(1)), second({1, 2, 3, 4, 5, 6}, seeded(2));
  (void)first.next(2);
  copy_state(first, second);
  EXPECT_EQ(all_of(first), all_of(second));
  EXPECT_EQ(next_epoch(first), next_epoch(second));
}

TEST(RandomSamplers, StatesBeforeTheFirstDrawHaveNoIndices) {
  WeightedRandomSampler first({1, 2, 3}, 4), second({1, 2, 3}, 4);
  (void)second.next(3);
  copy_state(first, second);
  EXPECT_EQ(second.index(), 0U);
  manual_seed(5);
  const Indices drawn = all_of(first);
  manual_seed(5);
  EXPECT_EQ(all_of(second), drawn);
}

TEST(RandomSamplers, RejectStatesOfOtherSamplers) {
  WeightedRandomSampler four({1, 2, 3, 4, 5}, 4, true), five({1, 2, 3, 4, 5}, 5);
  (void)four.next(1);
  EXPECT_ERROR(copy_state(four, five), "saved for 4 samples; this sampler has 5");
  WeightedRandomSampler last({0, 0, 0, 0, 1}, 2), few({1, 1}, 2),
      distinct({1, 1, 1, 1, 1}, 2, false);
  (void)last.next(1);
  EXPECT_ERROR(copy_state(last, few), "are not between 0 and 1");
  EXPECT_ERROR(copy_state(last, distinct), "have 4 twice");
  SubsetRandomSampler a({1, 2, 3}), b({1, 2, 4}), c({1, 2});
  (void)a.next(1);
  EXPECT_ERROR(copy_state(a, b), "are not those of this sampler's subset");
  EXPECT_ERROR(copy_state(a, c), "saved for 3 examples; this sampler has 2");
  BatchSampler two(SequentialSampler(8), 2, false), three(SequentialSampler(8), 3, false);
  EXPECT_ERROR(copy_state(two, three), "saved for 2 examples per batch; this sampler has 3");
}

TEST(RandomSamplers, LoadersContinueWithWorkers) {
  testing::expect_loader_continues(
      5,
      [] {
        return WeightedRandomSampler({1, 2, 3, 4, 5}, 20);
      },
      3);
  testing::expect_loader_continues(
      9,
      [] {
        return SubsetRandomSampler({8, 1, 2, 4, 6, 0, 7}, seeded(3));
      },
      2);
  testing::expect_loader_continues(
      20, [] { return BatchSampler(RandomSampler(20), 3, true); }, 1);
}

}  // namespace
}  // namespace hearth::data::samplers
