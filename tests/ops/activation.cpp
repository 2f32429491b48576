#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/pointwise_rows.h"

namespace hearth::testing {
namespace {

double gelu_reference(double x) {
  if (std::isinf(x)) return x > 0 ? x : std::nan("");
  return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
}

double gelu_tanh_reference(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

double softplus_reference(double x, double beta, double threshold) {
  return beta * x > threshold ? x : std::log1p(std::exp(beta * x)) / beta;
}

double clamped_to(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

double log_sigmoid_reference(double x) {
  return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x)));
}

double mish_reference(double x) { return x > 50 ? x : x * std::tanh(std::log1p(std::exp(x))); }

double elu_reference(double x, double alpha, double scale, double input_scale) {
  return x <= 0 ? scale * alpha * std::expm1(input_scale * x) : scale * x;
}

Row without_inplace(Row row) {
  row.inplace = nullptr;
  return row;
}

/// Adds to a row a call that must throw.
Row with_error(Row row, std::function<void()> call, std::string message) {
  row.refusals.push_back({std::move(call), std::move(message)});
  return row;
}

constexpr double kSeluAlpha = 1.6732632423543772848, kSeluScale = 1.0507009873554804934;

/// A row for a function with an out= form and without an in-place form.
#define OUT_ROW(row_name, function, reference, ...)                                               \
  [] {                                                                                            \
    Row row = unary_row(                                                                          \
        row_name, [](const Tensor& x) { return hearth::function(x __VA_OPT__(, ) __VA_ARGS__); }, \
        [](double x) -> double { return reference; });                                            \
    row.covers = {#function};                                                                     \
    row.slack = 2;                                                                                \
    row.out = [](Tensor& out, const Tensors& in) {                                                \
      hearth::function##_out(out, in[0] __VA_OPT__(, ) __VA_ARGS__);                              \
    };                                                                                            \
    return row;                                                                                   \
  }()
#define ROW(row_name, function, reference, ...) \
  POINTWISE_ROW(row_name, function, Draw::kNormal, reference __VA_OPT__(, ) __VA_ARGS__)

const Register registered_activation[] = {
    Register(with_error(
        ROW("gelu", gelu, gelu_reference(x)), [] { gelu(ones({2}, kLong)); },
        "\"gelu\" not implemented for 'Long'")),
    Register(with_error(
        covering(ROW("gelu_tanh", gelu, gelu_tanh_reference(x), "tanh"), "gelu.tanh"),
        [] { gelu(ones({2}), "erf"); }, "approximate argument must be either none or tanh.")),
    Register(with_integers_to_float(ROW("sigmoid", sigmoid, 1 / (1 + std::exp(-x))))),
    Register(with_error(
        with_integers(ROW("relu", relu, x <= 0 ? 0 : x)), [] { relu(ones({2}, kBool)); },
        "Boolean inputs not supported for relu")),
    Register(covering(with_integers(ROW("relu6", relu6, clamped_to(x, 0, 6))), "hardtanh")),
    Register(ROW("silu", silu, x / (1 + std::exp(-x)))),
    Register(ROW("elu", elu, elu_reference(x, 1, 1, 1))),
    Register(ROW("elu_scaled", elu, elu_reference(x, 0.5, 2, 1.5), 0.5, 2, 1.5)),
    Register(without_inplace(
        covering(unary_row(
                     "selu", [](const Tensor& x) { return selu(x); },
                     [](double x) { return elu_reference(x, kSeluAlpha, kSeluScale, 1); }),
                 "elu"))),
    Register(with_error(
        covering(ROW("celu", celu, elu_reference(x, 0.5, 1, 2), 0.5), "elu"),
        [] { celu(ones({2}), 0); }, "ZeroDivisionError: alpha cannot be 0 for CELU")),
    Register(ROW("leaky_relu", leaky_relu, x > 0 ? x : 0.2 * x, 0.2)),
    Register(OUT_ROW("softplus", softplus, softplus_reference(x, 1, 20))),
    Register(OUT_ROW("softplus_scaled", softplus, softplus_reference(x, 2, 1), 2, 1)),
    Register(OUT_ROW("log_sigmoid", log_sigmoid, log_sigmoid_reference(x))),
    Register(ROW("hardsigmoid", hardsigmoid, clamped_to(x + 3, 0, 6) / 6)),
    Register(ROW("hardswish", hardswish, x* clamped_to(x + 3, 0, 6) / 6)),
    Register(with_integers(ROW("hardtanh", hardtanh, clamped_to(x, 0, 1), 0, 1))),
    Register(ROW("mish", mish, mish_reference(x))),
    Register(with_error(
        OUT_ROW("hardshrink", hardshrink, std::fabs(x) <= 0.75 ? 0 : x, 0.75),
        [] { hardshrink(ones({2}, kLong)); }, "\"hardshrink\" not implemented for 'Long'")),
    Register(with_error(
        OUT_ROW("softshrink", softshrink, x - clamped_to(x, -0.75, 0.75), 0.75),
        [] { softshrink(ones({2}, kHalf), -1); },
        "lambda must be in range [0, 65504] for input dtype Half, but found -1")),
    Register(with_integers(ROW("threshold", threshold, x <= 1 ? 20 : x, 1, 20))),
};

TEST(Activation, HardtanhHasGradientZeroAtItsUpperBound) {
  const Tensor x = ones({1}, kDouble).requires_grad_();
  hardtanh(x).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 0);
}

Row softsign_row() {
  Row row =
      unary_row("softsign", &hearth::softsign, [](double x) { return x / (1 + std::abs(x)); });
  row.out = [](Tensor& out, const Tensors& in) { softsign_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.softsign_(); };
  return row;
}

const Register softsign_registered{softsign_row()};

Row glu_row(std::string name, int64_t dim, std::vector<Case> cases) {
  Row row;
  row.name = std::move(name);
  row.covers = {"glu", "glu_backward"};
  row.cases = std::move(cases);
  row.call = [dim](const Tensors& in) { return Tensors{glu(in[0], dim)}; };
  row.reference = [dim](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    const size_t d = size_t(dim < 0 ? dim + int64_t(sizes.size()) : dim);
    sizes[d] /= 2;
    return Arrays{build(sizes, [&](Position p) {
      const double a = at(in[0], p);
      p[d] += sizes[d];
      return a / (1 + std::exp(-at(in[0], p)));
    })};
  };
  row.out = [dim](Tensor& out, const Tensors& in) { glu_out(out, in[0], dim); };
  row.refusals = {{[] { glu(ones({})); }, "glu does not support 0-dimensional tensors"},
                  {[] {
                     glu(ones({2, 5}));
                   },
                   "Halving dimension must be even, but dimension 1 is size 5"},
                  {[] { glu(ones({4}, kLong)); }, "\"glu\" not implemented for 'Long'"}};
  return row;
}

const Register glu_last{glu_row("glu", -1, {{{{6}}}, {{{3, 4}}}, {{{2, 0}}}})};
const Register glu_first{glu_row("glu_first", 0, {{{{6}}}, {{{4, 3, 2}}}, {{{2, 0}}}})};

}  // namespace
}  // namespace hearth::testing
