#pragma once

#include "functors/families.h"

namespace hearth::fn {

/// gelu(x) = x * P(x), P the standard normal distribution function.
struct Gelu {
  static constexpr OpInfo info{.name = "gelu", .dtypes = dtypes::kFloating};
  static constexpr double kSqrtHalf = 0.70710678118654752440;
  static constexpr double kInvSqrt2Pi = 0.39894228040143267794;
  template <class V>
  HEARTH_FN static V cdf(V x) {
    return 0.5 * erfc(-kSqrtHalf * x);
  }
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * cdf(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (cdf(x) + x * (kInvSqrt2Pi * exp(-0.5 * x * x)));
  }
};

/// softsign(x) = x / (1 + |x|).
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

/// a * sigmoid(b): the formula of glu, whose operands are the halves of one tensor.
struct Gate {
  static constexpr OpInfo info{.name = "glu", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN static V sigmoid(V b) {
    return 1 / (1 + exp(-b));
  }
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

using Activation = List<Gelu, Softsign, Gate>;
HEARTH_NUMBER_FAMILY(Activation)

}  // namespace hearth::fn
