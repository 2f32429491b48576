#pragma once

#include "kernels/cpu/math_erf.h"

namespace hearth::cpu::math {

/// erfc(-x / sqrt(2)) / 2; the argument is computed in two parts.
template <class V>
HEARTH_SIMD V special_ndtr(V x) {
  using T = typename V::Lane;
  constexpr double sqrt_half = 0.70710678118654757, rest_of_sqrt_half = -4.8336466567264565e-17;
  constexpr T hi = T(sqrt_half), lo = T(sqrt_half - double(hi) + rest_of_sqrt_half);
  const Twofold<V> y = exact_product(-x, V(hi));
  const V rest = mul_add(-x, V(lo), y.lo);
  const V large = erfc_large(abs(y.hi), flip_sign(rest, y.hi));
  const V outside = select(y.hi < V(0), 2 - large, large);
  return 0.5 * select(abs(y.hi) < V(kErfSmall), 1 - erf_small(y.hi), outside);
}

/// Constants of gelu: the normal distribution function at -a is ((kZero - a) Q(a))^4 for a < kZero,
/// and negligible in f32 beyond.
struct GeluConstants {
  static constexpr float kZero = 7;
  static constexpr float kQ[] = {1.201280641e-01f,  -6.801195301e-03f, -8.138729695e-03f,
                                 -5.151588738e-04f, 5.035588674e-04f,  2.551521975e-05f,
                                 -1.049978207e-05f, -6.536720235e-06f, 2.346176475e-06f,
                                 -3.116811538e-07f, 1.924999824e-08f,  -4.530141388e-10f};
};

/// x * special_ndtr(x). In f32 without exp and division, so that memory bounds its speed: the error
/// is at most 13 ulp for x > -1, and at most 1.3e-7 for smaller x.
template <class V>
HEARTH_SIMD V gelu(V x) {
  if constexpr (sizeof(typename V::Lane) == 4) {
    using C = GeluConstants;
    V a = abs(x);
    a = select(a > V(C::kZero), V(C::kZero), a);
    const V root = (C::kZero - a) * polynomial(a, C::kQ);
    const V square = root * root;
    // 0 * x turns -infinity into NaN, as in PyTorch.
    return select(x < V(0), 0 * x, x) - a * (square * square);
  } else {
    return x * special_ndtr(x);
  }
}

}  // namespace hearth::cpu::math
