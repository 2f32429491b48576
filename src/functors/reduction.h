#pragma once

#include "functors/hd.h"

namespace hearth::fn {

/// What one part of a reduction's state is before the first element.
enum class Start : unsigned char { kZero, kOne, kLowest, kHighest };

/// The facts about a reduction; `dtypes` are the types it can be computed in.
struct ReductionInfo {
  const char* name = "";
  DtypeSet dtypes = dtypes::kFloatAndDouble;
};

/// What a reduction carries from element to element.
template <class V, int parts>
struct State {
  V part[parts];
};

// A reduction is a class with
//   start[]         the state of no elements, one entry per part;
//   combine(s, x)   the state after one more element;
//   merge(s, t)     the state of both sets of elements; must be associative and commutative;
//   finish(s)       the result.
// V is as in hd.h (complex only where dtypes has it). Any and all are Max and Min computed in bool.

/// A reduction whose state is one value, and whose step is Derived::join(a, b).
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

/// The sum of the elements; 0 of none.
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

/// The product of the elements; 1 of none.
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

/// Every reduction; its position is its number in the kernel tables.
using Reductions = List<Sum, Mean, Prod, Max, Min, Norm2>;

/// How many values the state of F consists of.
template <class F>
inline constexpr int parts = sizeof(F::start) / sizeof(Start);

/// A Start as a number of type T.
template <class T>
HEARTH_FN T start_value(Start start) {
  if (start == Start::kZero) return T(0);
  if (start == Start::kOne) return T(1);
  if constexpr (requires(T x) { x < x; }) {
    const bool lowest = start == Start::kLowest;
    if constexpr (T(0.5f) != T(0) && T(0.5f) != T(1))
      return lowest ? T(-__builtin_huge_val()) : T(__builtin_huge_val());
    else if constexpr (T(-1) < T(0))  // two's complement: the sign bit alone, then all others
      return lowest ? T(1ull << (8 * sizeof(T) - 1)) : T((1ull << (8 * sizeof(T) - 1)) - 1);
    else
      return lowest ? T(0) : T(-1);
  }
  return T(0);
}

}  // namespace hearth::fn
