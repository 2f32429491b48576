// Promotion, derived from the rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// The real dtypes in the order of the table below.
constexpr ScalarType kOrder[] = {kByte, kChar,  kShort,  kInt,      kLong,
                                 kHalf, kFloat, kDouble, kBFloat16, kBool};

/// The table in the documentation of torch.promote_types, written down here: what two dtypes of the
/// same kind of operand become.
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

size_t place_of(ScalarType type) {
  return size_t(std::find(std::begin(kOrder), std::end(kOrder), type) - std::begin(kOrder));
}

ScalarType in_table(ScalarType a, ScalarType b) { return kPromoted[place_of(a)][place_of(b)]; }

TEST(PromoteTypes, IsTheDocumentedTable) {
  for (const ScalarType a : kOrder)
    for (const ScalarType b : kOrder)
      EXPECT_EQ(promote_types(a, b), in_table(a, b)) << name_of(a) << " and " << name_of(b);
}

/// 0 bool, 1 integers, 2 floating point: a 0-d tensor counts among dimensioned ones only if its
/// kind is higher.
int kind_of(ScalarType type) {
  const size_t place = place_of(type);
  return type == kBool ? 0 : place < 5 ? 1 : 2;
}

ScalarType promoted(ScalarType a, bool a_has_dims, ScalarType b, bool b_has_dims) {
  if (a_has_dims == b_has_dims) return in_table(a, b);
  const ScalarType full = a_has_dims ? a : b, scalar = a_has_dims ? b : a;
  return kind_of(scalar) > kind_of(full) ? in_table(full, scalar) : full;
}

class OpDtypes : public ::testing::TestWithParam<Row> {};

TEST_P(OpDtypes, MixedDtypesPromote) {
  const Row& row = GetParam();
  if (!row.promotes) GTEST_SKIP() << "its inputs have one dtype";
  for (const Device device : devices())
    for (const ScalarType a : dtypes_in(row.dtypes))
      for (const ScalarType b : dtypes_in(row.dtypes))
        for (const Case& inputs : row.cases) {
          const Tensors in{make_input(inputs[0], a, device, Form::kContiguous, 1),
                           make_input(inputs[1], b, device, Form::kContiguous, 2)};
          const ScalarType wanted =
              result_dtype(row, 0, promoted(a, in[0].dim() > 0, b, in[1].dim() > 0));
          const std::string what = detail::str(row.name, " of ", name_of(a), in[0].sizes(), " and ",
                                               name_of(b), in[1].sizes());
          const Tensor out = row.call(in)[0];
          EXPECT_EQ(out.scalar_type(), wanted) << what;
          expect_close(out, row.reference(arrays_of(in))[0], row.slack, what);
        }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpDtypes, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::testing
