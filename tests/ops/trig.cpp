#include <gtest/gtest.h>

#include "hearth/operators.h"
#include "tests/ops/pointwise_rows.h"

namespace hearth::testing {
namespace {

#define TRIG_ROW(name, draw, reference) \
  Register(with_integers_to_float(POINTWISE_ROW(#name, name, draw, reference)))

const Register registered_trig[] = {
    TRIG_ROW(sin, Draw::kNormal, std::sin(x)),
    TRIG_ROW(cos, Draw::kNormal, std::cos(x)),
    TRIG_ROW(tan, Draw::kUnit, std::tan(x)),
    TRIG_ROW(asin, Draw::kUnit, std::asin(x)),
    TRIG_ROW(acos, Draw::kUnit, std::acos(x)),
    TRIG_ROW(atan, Draw::kNormal, std::atan(x)),
    TRIG_ROW(sinh, Draw::kNormal, std::sinh(x)),
    TRIG_ROW(cosh, Draw::kNormal, std::cosh(x)),
    TRIG_ROW(tanh, Draw::kNormal, std::tanh(x)),
    TRIG_ROW(asinh, Draw::kNormal, std::asinh(x)),
    TRIG_ROW(acosh, Draw::kAboveOne, std::acosh(x)),
    TRIG_ROW(atanh, Draw::kUnit, std::atanh(x)),
    TRIG_ROW(deg2rad, Draw::kNormal, x* M_PI / 180),
    TRIG_ROW(rad2deg, Draw::kNormal, x * 180 / M_PI),
    Register(with_integers_to_float(
        with_inplace(POINTWISE_ROW2(atan2, Draw::kNormal, dtypes::kRealAndBool, std::atan2(a, b)),
                     &hearth::atan2_))),
    Register(with_inplace(POINTWISE_ROW2(hypot, Draw::kNormal, dtypes::kFloating, std::hypot(a, b)),
                          &hearth::hypot_)),
};

TEST(Trig, Aliases) {
  const Tensor x = full({3}, 0.5), y = full({3}, 1.5);
  EXPECT_TRUE(arcsin(x).equal(asin(x)) && arccos(x).equal(acos(x)) && arctan(x).equal(atan(x)));
  EXPECT_TRUE(arcsinh(x).equal(asinh(x)) && arccosh(y).equal(acosh(y)));
  EXPECT_TRUE(arctanh(x).equal(atanh(x)) && arctan2(x, y).equal(atan2(x, y)));
}

TEST(Trig, HypotDoesNotOverflow) {
  EXPECT_FLOAT_EQ(hypot(full({}, 3e38f), full({}, 0.f)).item<float>(), 3e38f);
  EXPECT_FLOAT_EQ(hypot(full({}, 3e-30f), full({}, 4e-30f)).item<float>(), 5e-30f);
  EXPECT_EQ(hypot(full({}, NAN), full({}, -INFINITY)).item<float>(), INFINITY);
}

/// The squares of these numbers are not in float's range.
TEST(Trig, GradientsOfHypotDoNotOverflow) {
  for (const float size : {1e20f, 1e-30f}) {
    const Tensor a = full({}, 3 * size).requires_grad_(), b = full({}, -4 * size).requires_grad_();
    hypot(a, b).backward();
    EXPECT_FLOAT_EQ(a.grad().item<float>(), 0.6f);
    EXPECT_FLOAT_EQ(b.grad().item<float>(), -0.8f);
  }
}

}  // namespace
}  // namespace hearth::testing
