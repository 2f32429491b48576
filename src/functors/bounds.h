#pragma once

#include "functors/families.h"

namespace hearth::fn {

/// `beats` is > and `best` is the maximum if `largest`; otherwise < and the minimum.
template <bool largest>
struct Extreme {
  template <class V>
  HEARTH_FN static auto beats(V a, V b) {
    if constexpr (largest)
      return a > b;
    else
      return a < b;
  }
  template <class V>
  HEARTH_FN static V best(V a, V b) {
    if constexpr (largest)
      return maximum(a, b);
    else
      return minimum(a, b);
  }
};

/// The larger (or smaller) of two; NaN if either is NaN. Equal ones share the gradient.
template <bool largest>
struct BestOfTwo : Extreme<largest> {
  using Extreme<largest>::beats;
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return this->best(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select(beats(b, a), 0, select(a == b, g / 2, g));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select(beats(a, b), 0, select(a == b, g / 2, g));
  }
};
struct Maximum : BestOfTwo<true> {
  static constexpr OpInfo info{.name = "maximum", .dtypes = dtypes::kRealAndBool};
};
struct Minimum : BestOfTwo<false> {
  static constexpr OpInfo info{.name = "minimum", .dtypes = dtypes::kRealAndBool};
};
struct ClampMin : BestOfTwo<true> {
  static constexpr OpInfo info{.name = "clamp_min", .dtypes = dtypes::kRealAndBool};
};
struct ClampMax : BestOfTwo<false> {
  static constexpr OpInfo info{.name = "clamp_max", .dtypes = dtypes::kRealAndBool};
};

/// The larger (or smaller) of two; of a number and NaN, the number. Equal ones share the gradient.
template <bool largest>
struct BestIgnoringNan : Extreme<largest> {
  using Extreme<largest>::beats;
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select(isnan(a), b, select(isnan(b), a, this->best(a, b)));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select(beats(a, b) | isnan(b), g, select(a == b, g / 2, 0));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select(beats(b, a) | (isnan(a) & !isnan(b)), g, select(a == b, g / 2, 0));
  }
};
struct Fmax : BestIgnoringNan<true> {
  static constexpr OpInfo info{.name = "fmax", .dtypes = dtypes::kRealAndBool};
};
struct Fmin : BestIgnoringNan<false> {
  static constexpr OpInfo info{.name = "fmin", .dtypes = dtypes::kRealAndBool};
};

/// min(max(x, lo), hi); where lo < hi and x equals a bound, x and the bound share the gradient.
struct Clamp {
  static constexpr OpInfo info{
      .name = "clamp", .arguments = "self,min,max", .dtypes = dtypes::kReal};
  template <class V>
  HEARTH_FN V value(V x, V lo, V hi) const {
    return minimum(maximum(x, lo), hi);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V x, V lo, V hi) const {
    const auto shared = ((x == lo) | (x == hi)) & (lo < hi);
    return select((x < lo) | (x > hi), 0, select(shared, g / 2, g));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V x, V lo, V hi) const {
    return select((x < lo) & (lo <= hi), g, select((x == lo) & (lo < hi), g / 2, 0));
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V x, V lo, V hi) const {
    return select((x > hi) | (lo > hi), g, select((x == hi) & (lo < hi), g / 2, 0));
  }
};

// Clamping to numbers instead of tensors: the gradient is 0 where x equals a bound.

struct ClampNumbers {
  static constexpr OpInfo info{
      .name = "clamp", .overload = "number", .arguments = "self,min,max", .dtypes = dtypes::kReal};
  template <class V>
  HEARTH_FN V value(V x, V lo, V hi) const {
    return minimum(maximum(x, lo), hi);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V x, V lo, V hi) const {
    return select((x > lo) & (x < hi), g, 0);
  }
};

template <bool largest>
struct BoundByNumber : Extreme<largest> {
  template <class V>
  HEARTH_FN V value(V x, V bound) const {
    return this->best(x, bound);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V x, V bound) const {
    return select(this->beats(x, bound), g, 0);
  }
};
struct ClampMinNumber : BoundByNumber<true> {
  static constexpr OpInfo info{.name = "clamp_min", .overload = "number", .dtypes = dtypes::kReal};
};
struct ClampMaxNumber : BoundByNumber<false> {
  static constexpr OpInfo info{.name = "clamp_max", .overload = "number", .dtypes = dtypes::kReal};
};

using Bounds = List<Maximum, Minimum, Fmax, Fmin, Clamp, ClampMin, ClampMax, ClampNumbers,
                    ClampMinNumber, ClampMaxNumber>;
HEARTH_NUMBER_FAMILY(Bounds)

}  // namespace hearth::fn
