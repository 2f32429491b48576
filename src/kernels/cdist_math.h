#pragma once

// The formulas of cdist, for CPU and CUDA kernels. V is a value of functors/hd.h that also has
// mul_add(a, b, c).

#include <cmath>
#include <cstdint>

#include "functors/hd.h"

namespace hearth {

/// The norms with a formula of their own; kOther stands for all other norms.
enum class Norm : int8_t { kZero, kOne, kTwo, kInfinity, kOther };

inline Norm norm_of(double p) {
  if (p == 0) return Norm::kZero;
  if (p == 1) return Norm::kOne;
  if (p == 2) return Norm::kTwo;
  return std::isinf(p) ? Norm::kInfinity : Norm::kOther;
}

/// Returns `sum` plus the term of the difference d: |d|^p, for kZero 1 unless d is 0. For
/// kInfinity, returns the larger of `sum` and |d|; NaN never becomes the largest, as in PyTorch.
template <Norm norm, class V>
HEARTH_FN V distance_with_term(V sum, V d, V p) {
  const V magnitude = abs(d);
  if constexpr (norm == Norm::kZero)
    return sum + select(magnitude > V(0), V(1), d);  // d is 0 or NaN if it is not counted
  else if constexpr (norm == Norm::kOne)
    return sum + magnitude;
  else if constexpr (norm == Norm::kTwo)
    return mul_add(d, d, sum);
  else if constexpr (norm == Norm::kInfinity)
    return select(magnitude > sum, magnitude, sum);
  else
    return sum + pow(magnitude, p);
}

/// Returns factor / p * the derivative of the term by d. For kInfinity, returns factor * the sign
/// of d if |d| is the distance `dist`, else 0. Not for kZero.
template <Norm norm, class V>
HEARTH_FN V distance_derivative(V d, V p, V factor, V dist) {
  const V signed_factor = select(d > V(0), factor, select(d < V(0), -factor, V(0)));
  if constexpr (norm == Norm::kOne)
    return signed_factor;
  else if constexpr (norm == Norm::kTwo)
    return d * factor;
  else if constexpr (norm == Norm::kInfinity)
    return select(abs(d) == dist, signed_factor, V(0));
  else
    return select(d == V(0), V(0), signed_factor * pow(abs(d), p - V(1)));
}

}  // namespace hearth
