#pragma once

#include "functors/families.h"

namespace hearth::fn {

// The elementwise part of the losses in ops/loss.cpp, which adds the reductions: a is the input, b
// the target.

/// (a - b)^2.
struct SquaredError {
  static constexpr OpInfo info{
      .name = "mse_loss", .node = "MseLoss", .dtypes = dtypes::kFloating, .amp = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return (a - b) * (a - b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return 2 * (a - b) * g;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return 2 * (b - a) * g;
  }
};

/// `inside` where |d| <= limit, else `outside` with the sign of d.
template <class V>
HEARTH_FN V within(V d, double limit, V inside, V outside) {
  return select(d > limit, outside, select(d < -limit, -outside, inside));
}

/// As within() where |d| != limit; the bounds count as outside.
template <class V>
HEARTH_FN V strictly_within(V d, double limit, V inside, V outside) {
  return select(d >= limit, outside, select(d <= -limit, -outside, inside));
}

/// |a - b|; its gradient at 0 is 0.
struct AbsoluteError {
  static constexpr OpInfo info{.name = "l1_loss",
                               .node = "L1Loss",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32,
                               .piecewise_linear = true};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return abs(a - b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return within(a - b, 0, 0 * g, g);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return within(b - a, 0, 0 * g, g);
  }
};

/// d^2 / (2 beta) for d = |a - b| < beta, else d - beta / 2; beta > 0.
struct SmoothAbsoluteError {
  static constexpr OpInfo info{.name = "smooth_l1_loss",
                               .node = "SmoothL1Loss",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32};
  double beta = 1;
  HEARTH_FIELDS(beta)
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    const V d = abs(a - b);
    return select(d < beta, 0.5 * d * d / beta, d - 0.5 * beta);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return strictly_within(a - b, beta, (a - b) * g / beta, g);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return strictly_within(b - a, beta, (b - a) * g / beta, g);
  }
};

/// d^2 / 2 for d = |a - b| <= delta, else delta (d - delta / 2).
struct HuberError {
  static constexpr OpInfo info{
      .name = "huber_loss", .node = "HuberLoss", .dtypes = dtypes::kFloating, .amp = Amp::kFloat32};
  double delta = 1;
  HEARTH_FIELDS(delta)
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    const V d = abs(a - b);
    return select(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return strictly_within(a - b, delta, (a - b) * g, delta * g);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return strictly_within(b - a, delta, (b - a) * g, delta * g);
  }
};

/// The gradient of BinaryCrossEntropy with respect to a. TensorValue has its own overload, with
/// PyTorch's derivatives.
template <class V>
HEARTH_FN V binary_cross_entropy_slope(V g, V a, V b) {
  return g * (a - b) / maximum((1 - a) * a, V(1e-12));
}

/// -(b log(a) + (1 - b) log(1 - a)). As in PyTorch, logarithms below -100 count as -100, and the
/// divisor in the gradient of a is at least 1e-12.
struct BinaryCrossEntropy {
  static constexpr OpInfo info{.name = "binary_cross_entropy",
                               .node = "BinaryCrossEntropy",
                               .dtypes = dtypes::kFloating,
                               .amp_cpu = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return (b - 1) * maximum(log1p(-a), V(-100)) - b * maximum(log(a), V(-100));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return binary_cross_entropy_slope(g, a, b);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V) const {
    return g * (log1p(-a) - log(a));
  }
};

/// log(1 / (1 + exp(-x))).
template <class V>
HEARTH_FN V log_of_sigmoid(V x) {
  return minimum(x, V(0)) - log1p(exp(-abs(x)));
}
/// 1 / (1 + exp(-x)), for x below -80 its value at -80: from about -89 on, exp(-x) is infinite in
/// float32, and the derivative would be NaN.
template <class V>
HEARTH_FN V limited_sigmoid(V x) {
  return 1 / (1 + exp(-maximum(x, V(-80))));
}

/// The binary cross entropy of sigmoid(a) and b.
struct LogitEntropy {
  static constexpr OpInfo info{.name = "binary_cross_entropy_with_logits",
                               .node = "BinaryCrossEntropyWithLogits",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return (1 - b) * a - log_of_sigmoid(a);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return g * (limited_sigmoid(a) - b);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V) const {
    return -g * a;
  }
};

/// The binary cross entropy of sigmoid(a) and b, with the term of the positive class weighted by c.
struct WeightedLogitEntropy {
  static constexpr OpInfo info{.name = "binary_cross_entropy_with_logits",
                               .overload = "weighted",
                               .node = "BinaryCrossEntropyWithLogits",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b, V c) const {
    return (1 - b) * a - (1 + (c - 1) * b) * log_of_sigmoid(a);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b, V c) const {
    return g * ((1 - b) - (1 + (c - 1) * b) * limited_sigmoid(-a));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V, V c) const {
    return -g * (a + (c - 1) * log_of_sigmoid(a));
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V a, V b, V) const {
    return -g * b * log_of_sigmoid(a);
  }
};

/// b (log(b) - a), where b log(b) is 0 for b = 0.
struct Divergence {
  static constexpr OpInfo info{
      .name = "kl_div", .node = "KlDiv", .dtypes = dtypes::kFloating, .amp = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select(b == 0, V(0), b * log(select(b == 0, V(1), b))) - b * a;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V b) const {
    return -g * b;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * (log(b) + 1 - a);
  }
};

/// exp(b) (b - a).
struct LogDivergence {
  static constexpr OpInfo info{.name = "kl_div",
                               .overload = "log_target",
                               .node = "KlDiv",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return exp(b) * (b - a);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V b) const {
    return -g * exp(b);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * exp(b) * (b - a + 1);
  }
};

/// log(1 + exp(-a b)) without overflow.
struct SoftMargin {
  static constexpr OpInfo info{.name = "soft_margin_loss",
                               .node = "SoftMarginLoss",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return -log_of_sigmoid(a * b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return -g * b * limited_sigmoid(-(a * b));
  }
};

using Loss = List<SquaredError, AbsoluteError, SmoothAbsoluteError, HuberError, BinaryCrossEntropy,
                  LogitEntropy, WeightedLogitEntropy, Divergence, LogDivergence, SoftMargin>;
HEARTH_NUMBER_FAMILY(Loss)

}  // namespace hearth::fn
