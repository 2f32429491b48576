// Values, sizes and dtypes of every op's results and its error messages, derived from the op table.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hearth/operators.h"
#include "ops/call.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

constexpr MemoryLayout kLayouts[] = {MemoryLayout::kContiguous, MemoryLayout::kTransposed,
                                     MemoryLayout::kSliced, MemoryLayout::kExpanded};

class OpResults : public ::testing::TestWithParam<Row> {};

/// Calls f(case index, dtype, device, layout) for all combinations of a row.
template <class F>
void for_each_variant(const Row& row, F f) {
  for (const Device device : devices())
    for (const ScalarType dtype : dtypes_in(row.dtypes))
      for (const MemoryLayout layout : kLayouts)
        for (size_t i = 0; i < row.cases.size(); ++i) f(i, dtype, device, layout);
}

TEST_P(OpResults, MatchTheReference) {
  const Row& row = GetParam();
  if (!row.reference) GTEST_SKIP() << "the row has no reference; the op has tests of its own";
  for_each_variant(row, [&](size_t i, ScalarType dtype, Device device, MemoryLayout layout) {
    const Tensors in = make_inputs(row.cases[i], dtype, device, layout, 1);
    const Arrays before = arrays_of(in);
    const Tensors out = row.call(in);
    const Arrays wanted = row.reference(before);
    const std::string description = describe(row, i, dtype, device, layout);
    ASSERT_EQ(out.size(), wanted.size()) << description;
    for (size_t k = 0; k < out.size(); ++k) {
      expect_close(out[k], wanted[k], row.slack, description);
      EXPECT_EQ(out[k].device(), device) << description;
      // OpDtypes checks type promotion.
      const bool has_other_dtype =
          row.cases[i][0].draw == Draw::kIndex || row.cases[i][0].draw == Draw::kBool;
      if (!has_other_dtype) {
        EXPECT_EQ(out[k].scalar_type(), result_dtype(row, k, dtype)) << description;
      }
    }
    const Arrays after = arrays_of(in);
    for (size_t k = 0; k < in.size(); ++k)
      EXPECT_EQ(before[k].values, after[k].values) << description << " changed input " << k;
  });
}

/// Whether the sizes of a result depend on the elements, so that meta tensors cannot predict them.
bool has_dynamic_shapes(const Row& row) {
  // These are composed of other ops, so they have no record with Effect::kDynamicShape.
  static const std::set<std::string> composed{"_unique2", "bincount", "masked_select",
                                              "unique_consecutive", "unique_dim"};
  if (composed.count(row.name) > 0) return true;
  for (const OpRecord* op : all_ops())
    if (std::count(row.covers.begin(), row.covers.end(), full_name(*op->info)) > 0 &&
        op->info->effect == Effect::kDynamicShape)
      return true;
  return false;
}

TEST_P(OpResults, MetaPredictsSizesAndDtypes) {
  const Row& row = GetParam();
  for (size_t i = 0; i < row.cases.size(); ++i) {
    const Tensors in = make_inputs(row.cases[i], dtypes_in(row.dtypes)[0], Device("cpu"),
                                   MemoryLayout::kTransposed, 1);
    Tensors meta;
    for (const Tensor& t : in)
      meta.push_back(t.defined() ? empty_strided(t.sizes(), t.strides(), t.options().device(kMeta))
                                 : Tensor());
    const Tensors out = row.call(in);
    Tensors predicted;
    try {
      predicted = row.call(meta);
    } catch (const NotImplementedError& error) {
      EXPECT_TRUE(has_dynamic_shapes(row)) << row.name << " on meta: " << error.what();
      continue;
    }
    for (size_t k = 0; k < out.size(); ++k) {
      EXPECT_TRUE(predicted[k].is_meta());
      EXPECT_EQ(predicted[k].sizes().vec(), out[k].sizes().vec()) << row.name;
      EXPECT_EQ(predicted[k].strides().vec(), out[k].strides().vec()) << row.name;
      EXPECT_EQ(predicted[k].scalar_type(), out[k].scalar_type()) << row.name;
    }
  }
}

TEST_P(OpResults, InvalidCallsThrow) {
  for (const Refusal& refusal : GetParam().refusals) {
    try {
      refusal.call();
      ADD_FAILURE() << GetParam().name << " did not throw; expected: " << refusal.message;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.message), std::string::npos)
          << GetParam().name << " threw: " << error.what() << "\nexpected: " << refusal.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpResults, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

TEST(OpCoverage, EveryOpHasARow) {
  // Only a GPU's library computes these: tests/cuda and tests/gpu call them.
  std::set<std::string> covered{"_recurrent_net", "_recurrent_net_backward"};
  for (const Row& row : rows()) covered.insert(row.covers.begin(), row.covers.end());
  for (const OpRecord* op : all_ops())
    EXPECT_TRUE(covered.count(full_name(*op->info)))
        << "no row in tests/ops covers the op \"" << full_name(*op->info) << "\"";
}

}  // namespace
}  // namespace hearth::testing
