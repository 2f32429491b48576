#include <gtest/gtest.h>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pointwise_rows.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

constexpr DtypeSet kBits = dtypes::kIntegers | dtypes::kBool;

Row logical_row(Row row) {
  row.results = {Result::kBool};
  row.orders = 0;
  return row;
}

int64_t as_integer(double x) { return int64_t(x); }

double shifted_left(double a, double b) { return b < 0 ? 0 : a * std::exp2(b); }
double shifted_right(double a, double b) {
  return b < 0 ? (a < 0 ? -1 : 0) : std::floor(a / std::exp2(b));
}

Row bit_row(Row row) {
  row.orders = 0;
  row.refusals = {{[call = row.call] {
                     call({ones({2}), ones({2})});
                   },
                   "not implemented for 'Float'"}};
  return row;
}

#define LOGICAL_ROW(name, reference) \
  Register(logical_row(POINTWISE_ROW2(name, Draw::kSmall, dtypes::kRealAndBool, reference)))
#define BIT_ROW(name, types, reference)                     \
  Register(bit_row(with_inplace(                            \
      POINTWISE_ROW2(name, Draw::kSmall, types, reference), \
      [](Tensor& self, const Tensor& other) -> Tensor& { return self.name##_(other); })))

Row bitwise_not_row() {
  Row row = POINTWISE_ROW("bitwise_not", bitwise_not, Draw::kSmall, double(~as_integer(x)));
  row.dtypes = dtypes::kIntegers;
  row.orders = 0;
  row.special_values = false;
  return row;
}

Row logical_not_row() {
  Row row = logical_row(POINTWISE_ROW("logical_not", logical_not, Draw::kSmall, x == 0));
  row.dtypes = dtypes::kRealAndBool;
  return row;
}

const Register registered_logic[] = {
    LOGICAL_ROW(logical_and, a != 0 && b != 0),
    LOGICAL_ROW(logical_or, a != 0 || b != 0),
    LOGICAL_ROW(logical_xor, (a != 0) != (b != 0)),
    Register(logical_not_row()),
    BIT_ROW(bitwise_and, kBits, double(as_integer(a) & as_integer(b))),
    BIT_ROW(bitwise_or, kBits, double(as_integer(a) | as_integer(b))),
    BIT_ROW(bitwise_xor, kBits, double(as_integer(a) ^ as_integer(b))),
    BIT_ROW(bitwise_left_shift, dtypes::kIntegers, shifted_left(a, b)),
    BIT_ROW(bitwise_right_shift, dtypes::kIntegers, shifted_right(a, b)),
    Register(bitwise_not_row()),
};

Tensor longs(const std::vector<int64_t>& values) { return tensor(values); }

TEST(Logic, Operators) {
  const Tensor a = longs({1, 2, -3}), yes = ones({2}, kBool), no = zeros({2}, kBool);
  EXPECT_TRUE((a & 3).equal(longs({1, 2, 1})) && (3 | a).equal(longs({3, 3, -1})));
  EXPECT_TRUE((a ^ a).equal(longs({0, 0, 0})) && (~a).equal(longs({-2, -3, 2})));
  EXPECT_TRUE((~yes).equal(no) && (yes & no).equal(no) && (yes ^ no).equal(yes));
  Tensor b = a.clone();
  b &= longs({3, 3, 3});
  b |= longs({4, 4, 4});
  b ^= longs({1, 1, 1});
  EXPECT_TRUE(b.equal(longs({4, 7, 4})));
  EXPECT_EQ((yes & 1).scalar_type(), kLong);
}

TEST(Logic, ShiftsBeyondTheWidthOfTheDtype) {
  const Tensor a = longs({1, 2, -3});
  EXPECT_TRUE(a.bitwise_left_shift(100).equal(longs({0, 0, 0})));
  EXPECT_TRUE(a.bitwise_right_shift(100).equal(longs({0, 0, -1})));
  EXPECT_TRUE(a.bitwise_right_shift(-1).equal(longs({0, 0, -1})));
  EXPECT_TRUE(bitwise_right_shift(2, a).equal(longs({1, 0, 0})));
  EXPECT_EQ(full({1}, 200, kByte).bitwise_right_shift(9).item<int64_t>(), 0);
}

TEST(Logic, InPlaceKeepsTheDtype) {
  const Tensor x = tensor({1.5f, 0.f});
  EXPECT_TRUE(x.clone().logical_not_().equal(tensor({0.f, 1.f})));
  EXPECT_TRUE(x.clone().logical_and_(x).equal(tensor({1.f, 0.f})));
}

/// As in PyTorch, what can be written to the target is checked before what the op can compute.
TEST(Logic, ChecksTheTargetBeforeTheDtypeOfTheOp) {
  const Tensor ints = ones({2}, kInt), floats = ones({2});
  const char* const not_cast = "result type Float can't be cast to the desired output type Int";
  EXPECT_ERROR(ints.bitwise_and_(floats), not_cast);
  EXPECT_ERROR(floats.bitwise_and_(ints), "not implemented for 'Float'");
  EXPECT_ERROR(ints.expand({3, 2}).acos_(), "more than one element of the written-to tensor");
  EXPECT_ERROR(ints.acos_(), not_cast);
  EXPECT_ERROR(floats.bitwise_and(ints), "not implemented for 'Float'");
}

}  // namespace
}  // namespace hearth::testing
