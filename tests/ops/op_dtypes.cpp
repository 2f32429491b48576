// Promotion, derived from the rows.
#include <gtest/gtest.h>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// 0 bool, 1 integers, 2 floating point: a 0-d tensor counts among dimensioned ones only if its
/// kind is higher.
int kind_of(ScalarType type) { return type == kBool ? 0 : is_integral(type, false) ? 1 : 2; }

ScalarType promoted(ScalarType a, bool a_has_dims, ScalarType b, bool b_has_dims) {
  if (a_has_dims == b_has_dims || kind_of(a) == kind_of(b)) {
    if (a_has_dims == b_has_dims) return promote_types(a, b);
    return a_has_dims ? a : b;
  }
  const ScalarType full = a_has_dims ? a : b, scalar = a_has_dims ? b : a;
  return kind_of(scalar) > kind_of(full) ? scalar : full;
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
