#pragma once

#include "functors/families.h"

namespace hearth::fn {

/// a / b; integers are converted to the default float dtype.
struct Div {
  static constexpr OpInfo info{.name = "div",
                               .dtypes = dtypes::kFloating | dtypes::kComplex,
                               .promote = Promote::kFloat,
                               .exact_numbers = in_slot(0) | in_slot(1),
                               .exact_numbers_cpu = in_slot(1)};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return a / b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V b) const {
    return g / b;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return -g * ((a / b) / b);
  }
};

/// 1 / x.
struct Reciprocal {
  static constexpr OpInfo info{.name = "reciprocal",
                               .dtypes = dtypes::kFloating | dtypes::kComplex,
                               .promote = Promote::kFloat,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return 1 / x;
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return -g * (y * y);
  }
};

/// The gradient of Fmod and Remainder with respect to a.
struct RemainderGradient {
  template <class V>
  HEARTH_FN V grad_a(V g, V, V) const {
    return g;
  }
};

/// The remainder of a / b with the sign of a.
struct Fmod : RemainderGradient {
  static constexpr OpInfo info{.name = "fmod", .dtypes = dtypes::kReal, .piecewise_linear = true};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return fmod(a, b);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return -g * constant(trunc(a / b));  // a derivative of 0 / 0 would be NaN
  }
};

/// floor(a / b), computed from the remainder, because a / b itself may have been rounded up.
template <class V>
HEARTH_FN V floored_quotient(V a, V b) {
  const V rest = fmod(a, b);
  const auto below = ((rest < 0) & (b > 0)) | ((rest > 0) & (b < 0));
  if constexpr (V::kIntegral) {
    return quotient(a, b) - select(below, V(1), V(0));
  } else {
    const V whole = (a - rest) / b - select(below, V(1), V(0));
    const V rounded = floor(whole);  // one too low if a rounding error made `whole` too small
    const V result = select(whole - rounded > 0.5, rounded + 1, rounded);
    // 0 * (a / b) is 0 with the quotient's sign.
    return select(b == 0, a / b, select(whole == 0, 0 * (a / b), result));
  }
}

/// The remainder of a / b with the sign of b.
struct Remainder : RemainderGradient {
  static constexpr OpInfo info{
      .name = "remainder", .dtypes = dtypes::kReal, .piecewise_linear = true};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    const V rest = fmod(a, b);
    return select(((rest < 0) & (b > 0)) | ((rest > 0) & (b < 0)), rest + b, rest);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return -g * constant(floored_quotient(a, b));
  }
};

/// a / b rounded towards zero; 0 for integers divided by 0.
struct DivTrunc {
  static constexpr OpInfo info{
      .name = "div", .overload = "trunc", .dtypes = dtypes::kReal, .exact_numbers = in_slot(1)};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    if constexpr (V::kIntegral)
      return quotient(a, b);
    else
      return trunc(a / b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V) const {
    return zero_like(g);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V) const {
    return zero_like(g);
  }
};

/// a / b rounded down.
struct DivFloor {
  static constexpr OpInfo info{
      .name = "div", .overload = "floor", .dtypes = dtypes::kReal, .exact_numbers = in_slot(1)};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return floored_quotient(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V) const {
    return zero_like(g);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V) const {
    return zero_like(g);
  }
};

/// a / b rounded down, without a derivative, as in PyTorch.
struct FloorDivide {
  static constexpr OpInfo info{
      .name = "floor_divide", .dtypes = dtypes::kReal, .exact_numbers = in_slot(1)};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return floored_quotient(a, b);
  }
};

using Division = List<Div, Reciprocal, Fmod, Remainder, DivTrunc, DivFloor, FloorDivide>;
HEARTH_NUMBER_FAMILY(Division)

}  // namespace hearth::fn
