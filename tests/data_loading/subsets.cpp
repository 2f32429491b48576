// Subset, random_split and ConcatDataset. Lists of indices are PyTorch's.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/data.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/indices.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::data {
namespace {

using testing::Batches;
using testing::Count;

/// The indices of the parts into which random_split splits a dataset of `size` examples with a
/// generator of seed 42.
Batches split(size_t size, const datasets::SplitLengths& lengths) {
  Generator generator = make_generator();
  generator.set_current_seed(42);
  Batches parts;
  for (const auto& part : random_split(Count(size), lengths, generator)) {
    EXPECT_EQ(part.size(), part.indices().size());
    parts.push_back(part.indices());
  }
  return parts;
}

TEST(RandomSplit, TakesLengths) {
  const Batches expected = {{2, 6, 1}, {8, 4, 5, 0, 9, 3, 7}};
  EXPECT_EQ(split(10, {3, 7}), expected);
  const size_t few = 3;
  const int64_t many = 7;
  EXPECT_EQ(split(10, {few, many}), expected);
  EXPECT_EQ(split(10, std::vector<size_t>{3, 7}), expected);
  EXPECT_EQ(split(10, std::vector<double>{3, 7}), expected);
  EXPECT_EQ(split(0, {0, 0}), (Batches{{}, {}}));
  EXPECT_EQ(split(0, {}), Batches());
  manual_seed(0);
  const auto parts = random_split(Count(10), {6, 4});
  EXPECT_EQ(parts[0].indices(), (std::vector<size_t>{4, 1, 7, 5, 3, 9}));
  EXPECT_EQ(parts[1].indices(), (std::vector<size_t>{0, 8, 6, 2}));
}

TEST(RandomSplit, TakesFractions) {
  EXPECT_EQ(split(30, {.3, .3, .4}), (Batches{{12, 0, 6, 25, 8, 15, 10, 18, 16},
                                              {23, 28, 26, 20, 7, 21, 22, 29, 13},
                                              {14, 2, 4, 1, 9, 11, 17, 19, 27, 5, 24, 3}}));
  EXPECT_EQ(split(11, {.5, .25, .25}), (Batches{{6, 8, 9, 2, 1, 10}, {0, 7, 3}, {5, 4}}));
  EXPECT_EQ(split(10, {.7, .1, .2}), (Batches{{2, 6, 1, 8, 4, 5, 0}, {9}, {3, 7}}));
}

TEST(RandomSplit, WarnsOfEmptyParts) {
  const testing::Warnings warnings;
  EXPECT_EQ(split(10, {1, 0}), (Batches{{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}, {}}));
  ASSERT_EQ(warnings.said().size(), 1U);
  EXPECT_EQ(warnings.said()[0],
            "Length of split at index 1 is 0. This might result in an empty dataset.");
  EXPECT_EQ(split(3, std::vector<double>(10, .1))[2], (std::vector<size_t>{1}));
  EXPECT_EQ(warnings.said().size(), 8U);
}

struct UnsizedIndices : datasets::Dataset<UnsizedIndices, size_t> {
  size_t get(size_t index) override { return index; }
  std::optional<size_t> size() const override { return std::nullopt; }
};

TEST(RandomSplit, RefusesBadArgumentsAsPyTorch) {
  const std::string sum = "Sum of input lengths does not equal the length of the input dataset!";
  EXPECT_ERROR(split(10, {3, 6}), sum);
  EXPECT_ERROR(split(10, {.5, .4}), sum);
  EXPECT_ERROR(split(10, {}), sum);
  EXPECT_ERROR(split(10, {double(NAN), 10.}), sum);
  EXPECT_THROW(split(10, {3, 6}), ValueError);
  EXPECT_ERROR(split(10, {1.5, -.5}), "Fraction at index 0 is not between 0 and 1");
  EXPECT_ERROR(split(10, {11, -1}), "Length at index 1 should be a non-negative integer");
  EXPECT_ERROR(split(10, {2.5, 7.5}), "should be a non-negative integer, but got 2.5");
  EXPECT_ERROR(random_split(UnsizedIndices(), {1, 2}), "needs a dataset with a size");
}

TEST(Subset, HasTheDatasetsExamples) {
  Subset subset(Count(10), {7, 3, 3});
  const std::vector<size_t> request = {2, 0}, beyond = {3};
  EXPECT_EQ(subset.get(1), 3U);
  EXPECT_EQ(subset.get_batch(request), (std::vector<size_t>{3, 7}));
  EXPECT_EQ(subset.size(), 3U);
  EXPECT_EQ(subset.dataset().size(), 10U);
  EXPECT_ERROR(subset.get_batch(beyond), "list index out of range");
  EXPECT_ERROR(Subset(Count(10), {12}).get(0), "no example 12");
  Subset nested(subset, {0});
  EXPECT_EQ(nested.get(0), 7U);
}

TEST(Subset, IsLoadedByWorkers) {
  auto stacked = datasets::TensorDataset(arange(0, 50, 5)).map(transforms::Stack<TensorExample>());
  auto loader = make_data_loader<samplers::SequentialSampler>(Subset(stacked, {9, 2, 4}),
                                                              DataLoaderOptions(2).workers(2));
  std::vector<Tensor> batches;
  for (auto& batch : *loader) batches.push_back(batch.data);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_TRUE(batches[0].equal(tensor({45, 10})));
  EXPECT_TRUE(batches[1].equal(tensor({20})));
}

TEST(ConcatDataset, JoinsDatasets) {
  ConcatDataset joined(Count(3), Count(0), Subset(Count(9, 10), {0, 1, 2, 3}));
  EXPECT_EQ(joined.size(), 7U);
  EXPECT_EQ(joined.cumulative_sizes(), (std::vector<size_t>{3, 3, 7}));
  const std::vector<size_t> all = {0, 1, 2, 3, 4, 5, 6}, mixed = {6, 0, 3}, beyond = {7};
  EXPECT_EQ(joined.get_batch(all), (std::vector<size_t>{0, 1, 2, 10, 11, 12, 13}));
  EXPECT_EQ(joined.get_batch(mixed), (std::vector<size_t>{13, 0, 10}));
  EXPECT_ERROR(joined.get_batch(beyond), "list index out of range");
  ConcatDataset same(std::vector<Count>{Count(2), Count(2, 5)});
  EXPECT_EQ(Subset(same, {3}).get_batch(0), (std::vector<size_t>{6}));
  EXPECT_ERROR(ConcatDataset(std::vector<Count>()), "datasets should not be an empty iterable");
  EXPECT_ERROR(ConcatDataset(UnsizedIndices(), UnsizedIndices()), "needs datasets with a size");
}

TEST(ConcatDataset, IsLoadedByWorkers) {
  ConcatDataset joined(Count(3), Count(4, 10));
  auto loader =
      make_data_loader<samplers::SequentialSampler>(joined, DataLoaderOptions(2).workers(2));
  EXPECT_EQ(testing::epoch_of(*loader), (Batches{{0, 1}, {2, 10}, {11, 12}, {13}}));
}

/// Errors name the example's index in the concatenation, not in its dataset.
TEST(ConcatDataset, ErrorsNameTheExample) {
  ConcatDataset joined(Count(3), Subset(Count(4), {0, 9}));
  for (const size_t workers : {0, 1}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        joined, DataLoaderOptions(5).workers(workers));
    const std::string text = testing::error_of([&] { (void)testing::epoch_of(*loader); });
    EXPECT_NE(text.find("no example 9"), std::string::npos) << text;
    EXPECT_NE(text.find("in batch 0, example 4"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hearth::data
