#pragma once

#include "functors/unary.h"

namespace hearth::fn {

/// x * P(x), where P is the standard normal distribution function.
struct Gelu {
  static constexpr OpInfo info{.name = "gelu", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V x) const {
    return gelu(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (special_ndtr(x) + x * detail::normal_density(x));
  }
};

/// x * (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x³), which is x * sigmoid(2u).
struct GeluTanh {
  static constexpr OpInfo info{.name = "gelu", .overload = "tanh", .dtypes = dtypes::kFloating};
  static constexpr double kTwoSqrt2OverPi = 1.59576912160573071176;  // 2 sqrt(2 / pi)
  static constexpr double kCube = 0.044715;
  template <class V>
  HEARTH_FN static V cdf(V x) {
    return sigmoid(kTwoSqrt2OverPi * x * (1 + kCube * (x * x)));
  }
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * cdf(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V s = cdf(x);
    return g * (s + x * s * (1 - s) * (kTwoSqrt2OverPi * (1 + 3 * kCube * (x * x))));
  }
};

/// 1 / (1 + exp(-x)).
struct Sigmoid {
  static constexpr OpInfo info{.name = "sigmoid",
                               .dtypes = dtypes::kFloating,
                               .cpu_dtypes = dtypes::kComplex,
                               .promote = Promote::kFloat,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return sigmoid(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return g * (y * (1 - y));
  }
};

/// max(x, 0).
struct Relu {
  static constexpr OpInfo info{
      .name = "relu", .dtypes = dtypes::kReal, .grad_of_output = true, .piecewise_linear = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return maximum(x, V(0));
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return select(y <= 0, 0, g);
  }
};

/// x * sigmoid(x).
struct Silu {
  static constexpr OpInfo info{
      .name = "silu", .dtypes = dtypes::kFloating, .cpu_dtypes = dtypes::kComplex};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * sigmoid(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V s = sigmoid(x);
    return g * (s * (1 + x * (1 - s)));
  }
};

/// scale * x where x > 0, else scale * alpha * (exp(input_scale * x) - 1).
struct Elu {
  static constexpr OpInfo info{.name = "elu", .dtypes = dtypes::kFloating};
  double alpha = 1, scale = 1, input_scale = 1;
  HEARTH_FIELDS(alpha, scale, input_scale)
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x <= 0, alpha * scale * expm1(input_scale * x), scale * x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V negative = select(x >= 0, 0, x);  // as in PyTorch, the second derivative at 0 is 0
    const V slope = alpha * scale * input_scale * exp(input_scale * negative);
    return select(x > 0, scale * g, g * slope);
  }
};

/// x where x > 0, else negative_slope * x.
struct LeakyRelu {
  static constexpr OpInfo info{
      .name = "leaky_relu", .dtypes = dtypes::kFloating, .piecewise_linear = true};
  double negative_slope = 0.01;
  HEARTH_FIELDS(negative_slope)
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x > 0, x, negative_slope * x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(x > 0, g, negative_slope * g);
  }
};

/// log(1 + exp(beta x)) / beta; x where beta x > threshold.
struct Softplus {
  static constexpr OpInfo info{
      .name = "softplus", .dtypes = dtypes::kFloating, .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  double beta = 1, threshold = 20;
  HEARTH_FIELDS(beta, threshold)
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(beta * x > threshold, x, log1p(exp(beta * x)) / beta);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(beta * x > threshold, g, g * sigmoid(beta * x));
  }
};

/// log(sigmoid(x)).
struct LogSigmoid {
  static constexpr OpInfo info{.name = "log_sigmoid", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V x) const {
    return minimum(x, V(0)) - log1p(exp(-abs(x)));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * sigmoid(-x);
  }
};

/// min(max(x + 3, 0), 6) / 6.
struct Hardsigmoid {
  static constexpr OpInfo info{.name = "hardsigmoid", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V x) const {
    return minimum(maximum(x + 3, V(0)), V(6)) / 6;
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select((x > -3) & (x < 3), g / 6, 0);
  }
};

/// x * hardsigmoid(x).
struct Hardswish {
  static constexpr OpInfo info{.name = "hardswish", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * minimum(maximum(x + 3, V(0)), V(6)) / 6;
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(x <= -3, 0, select(x >= 3, g, g * (x / 3 + 0.5)));
  }
};

/// min(max(x, min_val), max_val).
struct Hardtanh {
  static constexpr OpInfo info{
      .name = "hardtanh", .dtypes = dtypes::kReal, .piecewise_linear = true};
  Factor min_val, max_val;
  HEARTH_FIELDS(min_val, max_val)
  template <class V>
  HEARTH_FN V value(V x) const {
    return minimum(maximum(x, min_val.as(x)), max_val.as(x));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select((x > min_val.as(x)) & (x < max_val.as(x)), g, 0);
  }
};

/// x * tanh(log(1 + exp(x))).
struct Mish {
  static constexpr OpInfo info{.name = "mish", .dtypes = dtypes::kFloating};
  /// tanh(log(1 + e)) = n / (n + 2) with e = exp(x) and n = e (e + 2). Above x = 20, it rounds
  /// to 1.
  template <class V>
  HEARTH_FN static V gate(V x) {
    const V e = exp(minimum(x, V(20)));
    const V n = e * (e + 2);
    return n / (n + 2);
  }
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * gate(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V t = gate(x);
    return g * (t + x * sigmoid(x) * (1 - t * t));
  }
};

/// replacement where x <= threshold, else x.
struct Threshold {
  static constexpr OpInfo info{
      .name = "threshold", .dtypes = dtypes::kReal, .piecewise_linear = true};
  Factor threshold, replacement;
  HEARTH_FIELDS(threshold, replacement)
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x <= threshold.as(x), replacement.as(x), x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(x <= threshold.as(x), 0, g);
  }
};

/// x / (1 + |x|).
struct Softsign {
  static constexpr OpInfo info{.name = "softsign", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x / (1 + abs(x));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V d = 1 + abs(x);
    return g / (d * d);
  }
};

/// 0 where |x| <= lambd, else x.
struct Hardshrink {
  static constexpr OpInfo info{
      .name = "hardshrink", .dtypes = dtypes::kFloating, .piecewise_linear = true};
  double lambd = 0.5;
  HEARTH_FIELDS(lambd)
  template <class V>
  HEARTH_FN V value(V x) const {
    return select((x >= -lambd) & (x <= lambd), 0, x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select((x >= -lambd) & (x <= lambd), 0, g);
  }
};

/// x moved towards 0 by lambd; 0 where |x| <= lambd; NaN stays NaN.
struct Softshrink {
  static constexpr OpInfo info{
      .name = "softshrink", .dtypes = dtypes::kFloating, .piecewise_linear = true};
  double lambd = 0.5;
  HEARTH_FIELDS(lambd)
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x > lambd, x - lambd, select(x < -lambd, x + lambd, x * 0));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select((x >= -lambd) & (x <= lambd), 0, g);
  }
};

/// x where x > 0, else weight * x.
struct Prelu {
  /// A constant whose derivative is that of `path`.
  template <class V>
  HEARTH_FN static V along(V constant, V path) {
    if constexpr (requires { V::along(constant, path); })
      return V::along(constant, path);
    else
      return constant;
  }
  static constexpr OpInfo info{.name = "_prelu_kernel",
                               .node = "PreluKernel",
                               .arguments = "self,weight",
                               .dtypes = dtypes::kFloating,
                               .piecewise_linear = true};
  template <class V>
  HEARTH_FN V value(V x, V weight) const {
    return select(x > 0, x, weight * x);
  }
  /// The tangent, given that of x and the one that the gradients' formulas give: at 0, PyTorch's is
  /// that of x > 0.
  template <class V>
  static V tangent(V x, V tangent_of_x, V by_gradients) {
    return select(x == 0, tangent_of_x, by_gradients);
  }
  // At 0, the slope is that of the weight, but PyTorch's second derivatives are those of x > 0.
  template <class V>
  HEARTH_FN V grad_a(V g, V x, V weight) const {
    const V sloped = weight * g;
    return select(x == 0, along(constant(sloped), g), select(x > 0, g, sloped));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V x, V weight) const {
    const V slope = select(x > 0, 0, select(x == 0, constant(x), x) * g);
    return select(weight == weight, slope, slope);  // depends on weight, with the derivative 0
  }
};

/// a * sigmoid(b), for glu, where a and b are the halves of one tensor.
struct Gate {
  static constexpr OpInfo info{.name = "glu", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return a * sigmoid(b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V b) const {
    return g * sigmoid(b);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    const V gate = sigmoid(b);
    return g * a * gate * (1 - gate);
  }
};

using Activation =
    List<Gelu, GeluTanh, Sigmoid, Relu, Silu, Elu, LeakyRelu, Softplus, LogSigmoid, Hardsigmoid,
         Hardswish, Hardtanh, Mish, Threshold, Softsign, Gate, Hardshrink, Softshrink, Prelu>;
HEARTH_NUMBER_FAMILY(Activation)

}  // namespace hearth::fn
