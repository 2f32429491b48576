// Derivatives at kinks, singular points, infinities and NaN, and of functions with steps; the
// values are PyTorch's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

struct Kink {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
  double point, slope;
  bool has_gradient = true;  // else that of backward is undefined
};

Tensor zero_like(const Tensor& x) { return zeros_like(x.detach()); }

const std::vector<Kink>& kinks() {
  using T = const Tensor&;
  static const std::vector<Kink> table{
      {"relu", [](T x) { return relu(x); }, 0, 0},
      {"relu", [](T x) { return relu(x); }, kInf, 1},
      {"relu", [](T x) { return relu(x); }, -kInf, 0},
      {"relu6", [](T x) { return relu6(x); }, 0, 0},
      {"relu6", [](T x) { return relu6(x); }, 6, 0},
      {"leaky_relu", [](T x) { return leaky_relu(x, 0.25); }, 0, 0.25},
      {"elu", [](T x) { return elu(x, 0.5, 2, 1.5); }, 0, 1.5},
      {"selu", [](T x) { return selu(x); }, 0, 1.7580993408473766},
      {"celu", [](T x) { return celu(x, 0.5); }, 0, 1},
      {"hardtanh", [](T x) { return hardtanh(x); }, -1, 0},
      {"hardtanh", [](T x) { return hardtanh(x); }, 1, 0},
      {"hardsigmoid", [](T x) { return hardsigmoid(x); }, -3, 0},
      {"hardsigmoid", [](T x) { return hardsigmoid(x); }, 3, 0},
      {"hardswish", [](T x) { return hardswish(x); }, -3, 0},
      {"hardswish", [](T x) { return hardswish(x); }, 3, 1},
      {"threshold", [](T x) { return threshold(x, 1, 20); }, 1, 0},
      {"hardshrink", [](T x) { return hardshrink(x); }, 0.5, 0},
      {"hardshrink", [](T x) { return hardshrink(x); }, std::nan(""), 1},
      {"softshrink", [](T x) { return softshrink(x); }, -0.5, 0},
      {"softshrink", [](T x) { return softshrink(x); }, std::nan(""), 1},
      {"sqrt of a complex angle", [](T x) { return angle(make_complex(x, zeros_like(x))).sqrt(); },
       0, 0},
      {"prelu", [](T x) { return prelu(x, full({1}, 0.25, x.options().requires_grad(false))); }, 0,
       0.25},
      {"softplus", [](T x) { return softplus(x, 2, 1); }, 0.5, 0.7310585786300049},
      {"softplus", [](T x) { return softplus(x); }, kInf, 1},
      {"softplus", [](T x) { return softplus(x); }, -kInf, 0},
      {"sigmoid", [](T x) { return sigmoid(x); }, kInf, 0},
      {"tanh", [](T x) { return tanh(x); }, kInf, 0},
      {"exp", [](T x) { return exp(x); }, -kInf, 0},
      {"abs", [](T x) { return abs(x); }, 0, 0},
      {"clamp", [](T x) { return clamp(x, 0, 1); }, 0, 0},
      {"clamp", [](T x) { return clamp(x, 0, 1); }, 1, 0},
      {"clamp_min", [](T x) { return clamp_min(x, 0); }, 0, 0},
      {"clamp_max", [](T x) { return clamp_max(x, 1); }, 1, 0},
      {"maximum", [](T x) { return maximum(x, zero_like(x)); }, 0, 0.5},
      {"minimum", [](T x) { return minimum(x, zero_like(x)); }, 0, 0.5},
      {"fmax", [](T x) { return fmax(x, zero_like(x)); }, 0, 0.5},
      {"sqrt", [](T x) { return sqrt(x); }, 0, kInf},
      {"rsqrt", [](T x) { return rsqrt(x); }, 0, -kInf},
      {"reciprocal", [](T x) { return reciprocal(x); }, 0, -kInf},
      {"log", [](T x) { return log(x); }, 0, kInf},
      {"l1_loss", [](T x) { return l1_loss(x, zero_like(x), Reduction::Sum); }, 0, 0},
      {"smooth_l1_loss", [](T x) { return smooth_l1_loss(x, zero_like(x), Reduction::Sum, 0.5); },
       0.5, 1},
      {"huber_loss", [](T x) { return huber_loss(x, zero_like(x), Reduction::Sum, 0.5); }, -0.5,
       -0.5},
      {"norm", [](T x) { return norm(x, 2); }, 0, 0},
      {"norm", [](T x) { return norm(x, 1); }, 0, 0},
      {"norm",
       [](T x) {
         return norm(cat({x, zero_like(x)}), -1);
       },
       2, 0},
      {"norm",
       [](T x) {
         return norm(cat({x, zero_like(x)}), -2.5);
       },
       2, 0},
      {"norm",
       [](T x) {
         return norm(cat({x, zero_like(x) / 0}), kInf);
       },
       2, 0},
      {"norm",
       [](T x) {
         return norm(cat({x, zero_like(x) / 0}), -kInf);
       },
       2, 0},
      {"addr", [](T x) { return addr(x, x.detach(), x.detach(), 0); }, 2, 0},
      {"median of nothing", [](T x) { return x.slice(0, 0, 0).median(); }, 2, 0},
      {"sign of slogdet",
       [](T x) {
         return std::get<0>(slogdet(x.view({1, 1})));
       },
       2, 0, false},
      {"pow", [](T x) { return pow(x, 0); }, 0, 0},
      {"pow", [](T x) { return pow(x, zero_like(x)); }, 0, 0},
      {"pow", [](T x) { return pow(x, 0.5); }, 0, kInf},
      {"hypot", [](T x) { return hypot(x, zero_like(x)); }, 0, std::nan("")},
      {"atan2", [](T x) { return atan2(x, zero_like(x)); }, 0, 0},
      {"xlogy", [](T x) { return xlogy(x, zero_like(x)); }, 0, 0},
      {"prod",
       [](T x) {
         return cat({x, x}).prod();
       },
       0, 0},
      {"frac", [](T x) { return frac(x); }, 1, 1},
      {"fmod", [](T x) { return fmod(x, 1); }, 1, 1},
      {"remainder", [](T x) { return remainder(x, 1); }, 1, 1},
      {"amax",
       [](T x) {
         return cat({x, x, x.detach().sub(1)}).amax();
       },
       0, 1}};
  return table;
}

TEST(Kinks, GradientsMatchPyTorch) {
  for (const Kink& kink : kinks())
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor x = full({1}, kink.point, dtype).requires_grad_();
      kink.f(x).sum().backward();
      EXPECT_EQ(x.grad().defined(), kink.has_gradient) << kink.name << " at " << kink.point;
      if (!x.grad().defined()) continue;
      const double got = x.grad().to(kDouble).item<double>();
      EXPECT_TRUE(is_close(got, kink.slope, 1e-6, 1e-12))
          << kink.name << " at " << kink.point << " in " << name_of(dtype) << ": " << got << " for "
          << kink.slope;
    }
}

const std::vector<Kink>& tangents_at_kinks() {
  using T = const Tensor&;
  static constexpr auto point = [](T x) { return view_as_complex(stack({x, zero_like(x)}, -1)); };
  static const std::vector<Kink> table{
      {"angle", [](T x) { return angle(x); }, -1, 0},
      {"angle of a complex number", [](T x) { return angle(point(x)); }, 0, 0},
      {"power of a complex 0", [](T x) { return real(pow(point(zero_like(x)), point(x))); }, 1, 0},
      {"nansum", [](T x) { return nansum(x / x); }, 0, 0},
      {"prelu", [](T x) { return prelu(x, full({1}, 0.25, x.options())); }, 0, 1},
      {"prelu", [](T x) { return prelu(x, full({1}, 0.25, x.options())); }, -1, 0.25},
      {"norm of order 0", [](T x) { return norm(x, 0); }, 2, 0},
      {"norm", [](T x) { return norm(x, 2); }, 0, 0},
      {"norm",
       [](T x) {
         return norm(cat({x, zero_like(x)}), -1);
       },
       2, 0},
      {"matrix_power",
       [](T x) {
         return matrix_power(x.view({1, 1}), 0);
       },
       2, 0},
      {"median of nothing", [](T x) { return x.slice(0, 0, 0).median(); }, 2, 0},
      {"sign of slogdet",
       [](T x) {
         return std::get<0>(slogdet(x.view({1, 1})));
       },
       2, 0},
      {"det",
       [](T x) {
         return det(x.view({1, 1}));
       },
       0, 1}};
  return table;
}

TEST(Kinks, TangentsMatchPyTorch) {
  for (const Kink& kink : tangents_at_kinks())
    for (const bool records : {false, true}) {
      const autograd::forward_ad::DualLevel level;
      const Tensor x = full({1}, kink.point, kDouble).requires_grad_(records);
      const Tensor tangent =
          kink.f(autograd::forward_ad::make_dual(x, ones_like(x.detach())))._fw_grad(0);
      ASSERT_TRUE(tangent.defined()) << kink.name;
      EXPECT_EQ(tangent.item<double>(), kink.slope) << kink.name << " at " << kink.point;
    }
}

struct Step {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
};

/// Step functions: for any incoming gradient, PyTorch's gradient is 0.
const std::vector<Step>& steps() {
  using T = const Tensor&;
  static const std::vector<Step> table{
      {"sign", [](T x) { return sign(x); }},
      {"floor", [](T x) { return floor(x); }},
      {"ceil", [](T x) { return ceil(x); }},
      {"round", [](T x) { return round(x); }},
      {"round to decimals", [](T x) { return round(x, 1); }},
      {"trunc", [](T x) { return trunc(x); }},
      {"dividend, floor", [](T x) { return div(x, full({3}, 2.0, x.options()), "floor"); }},
      {"divisor, floor", [](T x) { return div(full({3}, 2.0, x.options()), x, "floor"); }},
      {"dividend, trunc", [](T x) { return div(x, full({3}, 2.0, x.options()), "trunc"); }},
      {"divisor, trunc", [](T x) { return div(full({3}, 2.0, x.options()), x, "trunc"); }},
      {"sign of copysign", [](T x) { return copysign(full({3}, 2.0, x.options()), x); }}};
  return table;
}

TEST(Steps, GradientIsZeroForAnyIncomingGradient) {
  for (const Step& step : steps())
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const bool create_graph : {false, true}) {
        const Tensor x = full({3}, 1.5, dtype).requires_grad_();
        const Tensor incoming = tensor({kInf, -kInf, std::nan("")}, dtype);
        const Tensor gradient =
            autograd::grad({step.f(x)}, {x}, {incoming}, /*retain_graph=*/true, create_graph)[0];
        EXPECT_TRUE(gradient.equal(zeros({3}, dtype))) << step.name << "\n" << gradient;
        EXPECT_FALSE(gradient.requires_grad()) << step.name;
      }
}

/// The derivatives of the sum of y with respect to the inputs, with a graph.
std::vector<Tensor> slopes(const Tensor& y, const std::vector<Tensor>& inputs) {
  return autograd::grad({y.sum()}, inputs, {}, /*retain_graph=*/true, /*create_graph=*/true);
}

TEST(Kinks, SecondDerivativesOfBinaryCrossEntropyAtItsLimits) {
  const double rows[][3] = {{0, 0, 0}, {1, 1, 0}, {0, 1, 1e24}, {0, 0.5, 5e23}, {0.5, 0.3, 4}};
  for (const auto& [input, target, curvature] : rows) {
    const Tensor x = full({1}, input, kDouble).requires_grad_();
    const Tensor y = full({1}, target, kDouble).requires_grad_();
    const Tensor slope = slopes(binary_cross_entropy(x, y), {x})[0];
    const std::vector<Tensor> second = slopes(slope, {x, y});
    EXPECT_NEAR(second[0].item<double>(), curvature, 1e-9 * curvature) << input << ", " << target;
    EXPECT_NEAR(second[1].item<double>(), input == 0.5 ? -4 : -1e12, 1e-3);
  }
}

TEST(Kinks, DerivativesOfPreluAtZero) {
  const double rows[][4] = {{0, 0.25, 0, 0}, {1, 1, 0, 0}, {-1, 0.25, -1, 1}};
  for (const auto& [point, slope, weight_slope, mixed] : rows) {
    const Tensor x = full({1}, point, kDouble).requires_grad_();
    const Tensor weight = full({1}, 0.25, kDouble).requires_grad_();
    const std::vector<Tensor> first = slopes(prelu(x, weight), {x, weight});
    EXPECT_EQ(first[0].item<double>(), slope);
    EXPECT_EQ(first[1].item<double>(), weight_slope);
    EXPECT_EQ(slopes(first[0], {x, weight})[0].item<double>(), 0);
    EXPECT_EQ(slopes(first[0], {x, weight})[1].item<double>(), mixed) << point;
    EXPECT_EQ(slopes(first[1], {x})[0].item<double>(), mixed) << point;
  }
}

TEST(Kinks, SecondDerivativesOfRemaindersAreZero) {
  for (const bool has_sign_of_divisor : {false, true}) {
    const Tensor x = tensor({0., 1., 5.}, kDouble).requires_grad_();
    const Tensor y = tensor({0., 0., 2.}, kDouble).requires_grad_();
    const Tensor rest = has_sign_of_divisor ? remainder(x, y) : fmod(x, y);
    for (const Tensor& second : slopes(slopes(rest, {y})[0], {x, y}))
      EXPECT_TRUE(second.equal(zeros({3}, kDouble))) << second;
  }
}

TEST(Kinks, ResultsWithoutInfluenceRequireGrad) {
  const Tensor x = eye(2).requires_grad_();
  EXPECT_TRUE(std::get<0>(slogdet(x)).requires_grad());
  EXPECT_TRUE(matrix_power(x, 0).requires_grad());
  EXPECT_EQ(slopes(x.slice(0, 0, 0).median(), {x})[0].sizes(), x.sizes());
  const Tensor ones_of_two = ones({2});
  EXPECT_TRUE(slopes(addr(x, ones_of_two, ones_of_two, 0), {x})[0].equal(zeros({2, 2})));
}

TEST(Kinks, ThirdDerivativesOfHypotWhereItsInputsAreEqual) {
  for (const double sign : {1., -1.}) {
    const Tensor x = full({1}, 2, kDouble).requires_grad_();
    const Tensor y = full({1}, 2 * sign, kDouble).requires_grad_();
    const Tensor second = slopes(slopes(hypot(x, y), {x})[0], {x})[0];
    EXPECT_NEAR(second.item<double>(), std::sqrt(2) / 8, 1e-15);
    EXPECT_NEAR(slopes(second, {x})[0].item<double>(), -3 * std::sqrt(2) / 32, 1e-15);
  }
}

}  // namespace
}  // namespace hearth::testing
