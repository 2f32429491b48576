#pragma once

#include "functors/families.h"

namespace hearth::fn {

/// The larger one, NaN if either is; ties share the gradient.
struct Larger {
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return maximum(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select(a < b, 0, select(a == b, g / 2, g));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select(b < a, 0, select(a == b, g / 2, g));
  }
};

/// The smaller one, NaN if either is; ties share the gradient.
struct Smaller {
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return minimum(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select(a > b, 0, select(a == b, g / 2, g));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select(b > a, 0, select(a == b, g / 2, g));
  }
};

struct Maximum : Larger {
  static constexpr OpInfo info{.name = "maximum", .dtypes = dtypes::kRealAndBool};
};
struct Minimum : Smaller {
  static constexpr OpInfo info{.name = "minimum", .dtypes = dtypes::kRealAndBool};
};
struct ClampMin : Larger {
  static constexpr OpInfo info{.name = "clamp_min", .dtypes = dtypes::kReal};
};
struct ClampMax : Smaller {
  static constexpr OpInfo info{.name = "clamp_max", .dtypes = dtypes::kReal};
};

/// The larger one, of a number and NaN the number.
struct Fmax {
  static constexpr OpInfo info{.name = "fmax", .dtypes = dtypes::kRealAndBool};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select(isnan(a), b, select(isnan(b), a, maximum(a, b)));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select((a > b) | isnan(b), g, select(a == b, g / 2, 0));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select((b > a) | (isnan(a) & !isnan(b)), g, select(a == b, g / 2, 0));
  }
};

/// The smaller one, of a number and NaN the number.
struct Fmin {
  static constexpr OpInfo info{.name = "fmin", .dtypes = dtypes::kRealAndBool};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select(isnan(a), b, select(isnan(b), a, minimum(a, b)));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select((a < b) | isnan(b), g, select(a == b, g / 2, 0));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select((b < a) | (isnan(a) & !isnan(b)), g, select(a == b, g / 2, 0));
  }
};

/// min(max(x, lo), hi); where x is a bound, they share the gradient.
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

// The same with numbers for bounds: at a bound there is no gradient.

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

struct ClampMinNumber {
  static constexpr OpInfo info{.name = "clamp_min", .overload = "number", .dtypes = dtypes::kReal};
  template <class V>
  HEARTH_FN V value(V x, V lo) const {
    return maximum(x, lo);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V x, V lo) const {
    return select(x > lo, g, 0);
  }
};

struct ClampMaxNumber {
  static constexpr OpInfo info{.name = "clamp_max", .overload = "number", .dtypes = dtypes::kReal};
  template <class V>
  HEARTH_FN V value(V x, V hi) const {
    return minimum(x, hi);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V x, V hi) const {
    return select(x < hi, g, 0);
  }
};

using Bounds = List<Maximum, Minimum, Fmax, Fmin, Clamp, ClampMin, ClampMax, ClampNumbers,
                    ClampMinNumber, ClampMaxNumber>;
HEARTH_NUMBER_FAMILY(Bounds)

}  // namespace hearth::fn
