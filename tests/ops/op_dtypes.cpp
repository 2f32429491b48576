// Type promotion, derived from the op table.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// The real dtypes in the order of the table below.
constexpr ScalarType kOrder[] = {kByte, kChar,  kShort,  kInt,      kLong,
                                 kHalf, kFloat, kDouble, kBFloat16, kBool};

/// The table of torch.promote_types in PyTorch's documentation.
constexpr ScalarType kPromoted[10][10] = {
    {kByte, kShort, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kByte},
    {kShort, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kChar},
    {kShort, kShort, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kShort},
    {kInt, kInt, kInt, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kInt},
    {kLong, kLong, kLong, kLong, kLong, kHalf, kFloat, kDouble, kBFloat16, kLong},
    {kHalf, kHalf, kHalf, kHalf, kHalf, kHalf, kFloat, kDouble, kFloat, kHalf},
    {kFloat, kFloat, kFloat, kFloat, kFloat, kFloat, kFloat, kDouble, kFloat, kFloat},
    {kDouble, kDouble, kDouble, kDouble, kDouble, kDouble, kDouble, kDouble, kDouble, kDouble},
    {kBFloat16, kBFloat16, kBFloat16, kBFloat16, kBFloat16, kFloat, kFloat, kDouble, kBFloat16,
     kBFloat16},
    {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kBool}};

size_t index_of(ScalarType type) {
  return size_t(std::find(std::begin(kOrder), std::end(kOrder), type) - std::begin(kOrder));
}

ScalarType documented_promotion(ScalarType a, ScalarType b) {
  return kPromoted[index_of(a)][index_of(b)];
}

TEST(PromoteTypes, MatchesTheDocumentedTable) {
  for (const ScalarType a : kOrder)
    for (const ScalarType b : kOrder)
      EXPECT_EQ(promote_types(a, b), documented_promotion(a, b))
          << name_of(a) << " and " << name_of(b);
}

/// The kind of a dtype: 0 bool, 1 integer, 2 floating point.
int kind_of(ScalarType type) { return type == kBool ? 0 : index_of(type) < 5 ? 1 : 2; }

/// The result's dtype. Beside a tensor with dimensions, a 0-d tensor counts only if its kind is
/// higher.
ScalarType promoted(ScalarType a, bool a_has_dims, ScalarType b, bool b_has_dims) {
  if (a_has_dims == b_has_dims) return documented_promotion(a, b);
  const ScalarType full = a_has_dims ? a : b, scalar = a_has_dims ? b : a;
  return kind_of(scalar) > kind_of(full) ? documented_promotion(full, scalar) : full;
}

class OpDtypes : public ::testing::TestWithParam<Row> {};

TEST_P(OpDtypes, MixedDtypesPromote) {
  const Row& row = GetParam();
  if (!row.promotes) GTEST_SKIP() << "the op's inputs must have one dtype";
  for (const Device device : devices())
    for (const ScalarType a : dtypes_in(row.dtypes))
      for (const ScalarType b : dtypes_in(row.dtypes))
        for (const Case& inputs : row.cases) {
          const Tensors in{make_input(inputs[0], a, device, MemoryLayout::kContiguous, 1),
                           make_input(inputs[1], b, device, MemoryLayout::kContiguous, 2)};
          const ScalarType wanted =
              result_dtype(row, 0, promoted(a, in[0].dim() > 0, b, in[1].dim() > 0));
          const std::string description = detail::str(row.name, " of ", name_of(a), in[0].sizes(),
                                                      " and ", name_of(b), in[1].sizes());
          const Tensor out = row.call(in)[0];
          EXPECT_EQ(out.scalar_type(), wanted) << description;
          expect_close(out, row.reference(arrays_of(in))[0], row.slack, description);
        }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpDtypes, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::testing
