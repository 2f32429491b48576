#pragma once

#include "functors/hd.h"

namespace hearth::fn {

/// The value of one part of a reduction's State before the first element.
enum class Start : unsigned char { kZero, kOne, kLowest, kHighest };

/// The properties of a reduction; `dtypes` are the dtypes in which it can be computed.
struct ReductionInfo {
  const char* name = "";
  DtypeSet dtypes = dtypes::kFloatAndDouble;
};

/// The state of a reduction, updated element by element: one to three values, its parts.
template <class V, int parts>
struct State {
  V part[parts];
};

// A reduction is a class with
//   start[]         the state of no elements, one entry per part;
//   combine(s, x)   the state after one more element;
//   merge(s, t)     the state of both sets of elements; must be associative and commutative;
//   finish(s)       the result.
// V is as in hd.h (complex only if `dtypes` contains it). Any and all are Max and Min in bool.

/// A reduction whose state is one value; Derived::join(a, b) combines two such values.
template <class Derived>
struct Fold {
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{Derived::join(s.part[0], x)}};
  }
  template <class V>
  HEARTH_FN State<V, 1> merge(State<V, 1> s, State<V, 1> t) const {
    return {{Derived::join(s.part[0], t.part[0])}};
  }
  template <class V>
  HEARTH_FN V finish(State<V, 1> s) const {
    return s.part[0];
  }
};

/// The sum of the elements; 0 if there are none.
struct Sum : Fold<Sum> {
  static constexpr ReductionInfo info{
      .name = "sum", .dtypes = dtypes::kFloatAndDouble | dtypes::kLong | dtypes::kComplex};
  static constexpr Start start[] = {Start::kZero};
  template <class V>
  HEARTH_FN static V join(V a, V b) {
    return a + b;
  }
};

/// The sum divided by `count`, the number of elements.
struct Mean : Sum {
  static constexpr ReductionInfo info{.name = "mean",
                                      .dtypes = dtypes::kFloatAndDouble | dtypes::kComplex};
  double count;
  constexpr explicit Mean(double count_ = 1) : count(count_) {}
  template <class V>
  HEARTH_FN V finish(State<V, 1> s) const {
    return s.part[0] / count;
  }
};

/// The product of the elements; 1 if there are none.
struct Prod : Fold<Prod> {
  static constexpr ReductionInfo info{
      .name = "prod", .dtypes = dtypes::kFloatAndDouble | dtypes::kLong | dtypes::kComplex};
  static constexpr Start start[] = {Start::kOne};
  template <class V>
  HEARTH_FN static V join(V a, V b) {
    return a * b;
  }
};

/// The largest element, NaN if there is one; in bool: whether any is true.
struct Max : Fold<Max> {
  static constexpr ReductionInfo info{
      .name = "amax", .dtypes = dtypes::kFloatAndDouble | dtypes::kLong | dtypes::kBool};
  static constexpr Start start[] = {Start::kLowest};
  template <class V>
  HEARTH_FN static V join(V a, V b) {
    return maximum(a, b);
  }
};

/// The smallest element, NaN if there is one; in bool: whether all are true.
struct Min : Fold<Min> {
  static constexpr ReductionInfo info{
      .name = "amin", .dtypes = dtypes::kFloatAndDouble | dtypes::kLong | dtypes::kBool};
  static constexpr Start start[] = {Start::kHighest};
  template <class V>
  HEARTH_FN static V join(V a, V b) {
    return minimum(a, b);
  }
};

/// The square root of the sum of squares.
struct Norm2 : Sum {
  static constexpr ReductionInfo info{.name = "norm"};
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{s.part[0] + x * x}};
  }
  template <class V>
  HEARTH_FN V finish(State<V, 1> s) const {
    return sqrt(s.part[0]);
  }
};

/// The sum of the elements that are not NaN.
struct NanSum : Sum {
  static constexpr ReductionInfo info{.name = "nansum",
                                      .dtypes = dtypes::kFloatAndDouble | dtypes::kLong};
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{s.part[0] + select(isnan(x), V(0), x)}};
  }
};

/// The number of nonzero elements.
struct Norm0 : Sum {
  static constexpr ReductionInfo info{.name = "norm"};
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{s.part[0] + select(x != V(0), V(1), V(0))}};
  }
};

/// The sum of the absolute values.
struct Norm1 : Sum {
  static constexpr ReductionInfo info{.name = "norm"};
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{s.part[0] + abs(x)}};
  }
};

/// The p-th root of the sum of the absolute values' p-th powers.
struct NormP : Sum {
  static constexpr ReductionInfo info{.name = "norm"};
  double p;
  constexpr explicit NormP(double p_ = 2) : p(p_) {}
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{s.part[0] + pow(abs(x), V(p))}};
  }
  template <class V>
  HEARTH_FN V finish(State<V, 1> s) const {
    return pow(s.part[0], V(1 / p));
  }
};

/// The largest absolute value; 0 if there are no elements.
struct NormMax : Max {
  static constexpr ReductionInfo info{.name = "norm"};
  static constexpr Start start[] = {Start::kZero};
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{maximum(s.part[0], abs(x))}};
  }
};

/// The smallest absolute value.
struct NormMin : Min {
  static constexpr ReductionInfo info{.name = "norm"};
  template <class V>
  HEARTH_FN State<V, 1> combine(State<V, 1> s, V x) const {
    return {{minimum(s.part[0], abs(x))}};
  }
};

/// The sum of the squared distances from the mean, divided by `divisor`. The state is count, mean
/// and that sum (Welford's method).
struct Var {
  static constexpr ReductionInfo info{.name = "var"};
  static constexpr Start start[] = {Start::kZero, Start::kZero, Start::kZero};
  double divisor;
  constexpr explicit Var(double divisor_ = 1) : divisor(divisor_) {}
  template <class V>
  HEARTH_FN State<V, 3> combine(State<V, 3> s, V x) const {
    const V count = s.part[0] + V(1), distance = x - s.part[1];
    const V mean = s.part[1] + distance / count;
    return {{count, mean, s.part[2] + distance * (x - mean)}};
  }
  template <class V>
  HEARTH_FN State<V, 3> merge(State<V, 3> s, State<V, 3> t) const {
    const V count = s.part[0] + t.part[0];
    const V share = t.part[0] / maximum(count, V(1)), distance = t.part[1] - s.part[1];
    return {{count, s.part[1] + distance * share,
             s.part[2] + t.part[2] + distance * distance * s.part[0] * share}};
  }
  template <class V>
  HEARTH_FN V finish(State<V, 3> s) const {
    return s.part[2] / V(divisor);
  }
};

/// The square root of Var.
struct Std : Var {
  static constexpr ReductionInfo info{.name = "std"};
  using Var::Var;
  template <class V>
  HEARTH_FN V finish(State<V, 3> s) const {
    return sqrt(s.part[2] / V(divisor));
  }
};

/// log(sum(exp(x))). The state is the largest element and the sum of exp(x - largest).
struct LogSumExp {
  static constexpr ReductionInfo info{.name = "logsumexp"};
  static constexpr Start start[] = {Start::kLowest, Start::kZero};
  /// exp(-|a - b|); 1 for equal infinities.
  template <class V>
  HEARTH_FN static V decay(V a, V b) {
    return select(a == b, V(1), exp(-abs(a - b)));
  }
  template <class V>
  HEARTH_FN State<V, 2> combine(State<V, 2> s, V x) const {
    return merge(s, State<V, 2>{{x, V(1)}});
  }
  template <class V>
  HEARTH_FN State<V, 2> merge(State<V, 2> s, State<V, 2> t) const {
    const V a = s.part[0], b = t.part[0], less = decay(a, b);
    return {
        {maximum(a, b), select(b > a, s.part[1] * less + t.part[1], s.part[1] + t.part[1] * less)}};
  }
  template <class V>
  HEARTH_FN V finish(State<V, 2> s) const {
    return s.part[0] + log(s.part[1]);
  }
};

/// Every reduction; the position of a reduction is its number in the kernel tables.
using Reductions = List<Sum, Mean, Prod, Max, Min, NanSum, Norm0, Norm1, Norm2, NormP, NormMax,
                        NormMin, Var, Std, LogSumExp>;

/// The number of values in the state of F.
template <class F>
inline constexpr int parts = sizeof(F::start) / sizeof(Start);

/// A Start as a number of type T.
template <class T>
HEARTH_FN T start_value(Start start) {
  if (start == Start::kZero) return T(0);
  if (start == Start::kOne) return T(1);
  if constexpr (requires(T x) { x < x; }) {
    const bool lowest = start == Start::kLowest;
    if constexpr (T(0.5f) != T(0) && T(0.5f) != T(1))  // floating: bool(0.5f) is 1
      return lowest ? T(-__builtin_huge_val()) : T(__builtin_huge_val());
    else if constexpr (T(-1) < T(0))  // two's complement: only the sign bit, or all other bits
      return lowest ? T(1ull << (8 * sizeof(T) - 1)) : T((1ull << (8 * sizeof(T) - 1)) - 1);
    else
      return lowest ? T(0) : T(-1);
  }
  return T(0);
}

}  // namespace hearth::fn
