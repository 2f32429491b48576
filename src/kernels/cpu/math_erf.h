#pragma once

// erf and erfc over Vec: a polynomial for small arguments and exp(-x²) times a polynomial for large
// ones. Both are computed for all lanes. Bound by multiply-adds, those of exp and of the two
// polynomials (5 and 10 coefficients in f32, 10 and 23 in f64), and by a division.

#include "kernels/cpu/math_exp.h"

namespace hearth::cpu::math {

/// Constants of erf and erfc. Below kErfSmall: erf(x) = x + x P(x²). Above, with t = kPole / (|x| +
/// kPole): erfc(|x|) = exp(-x²) t Q(2t - 1); beyond kMax it is 0.
template <class T>
struct ErfConstants;
template <>
struct ErfConstants<float> {
  static constexpr float kPole = 2, kMax = 10.25f;
  static constexpr float kP[] = {1.283791661e-01f, -3.761260808e-01f, 1.128282994e-01f,
                                 -2.675765008e-02f, 4.718891811e-03f};
  static constexpr float kQ[] = {
      5.107913613e-01f,  3.435803354e-01f, 1.397359073e-01f, 1.822160557e-02f,  -1.075248513e-02f,
      -3.244922962e-03f, 1.524739666e-03f, 4.406909866e-04f, -2.688636596e-04f, -5.230491661e-05f};
};
template <>
struct ErfConstants<double> {
  static constexpr double kPole = 4, kMax = 27.3;
  static constexpr double kP[] = {1.28379167095512586e-01, -3.76126389031837483e-01,
                                  1.12837916709548680e-01, -2.68661706449993577e-02,
                                  5.22397762200884491e-03, -8.54832650971854686e-04,
                                  1.20552861288711081e-04, -1.49230002838501081e-05,
                                  1.63711645528928361e-06, -1.46202561143915528e-07};
  static constexpr double kQ[] = {
      2.73998915250122765e-01,  2.44137182270220493e-01,  1.93302175566309298e-01,
      1.35213457828309097e-01,  8.27128969695015565e-02,  4.35027343099694194e-02,
      1.90953787273840485e-02,  6.59251333536220799e-03,  1.52801391294025697e-03,
      7.02397134007410722e-05,  -1.13763161819768199e-04, -4.42031860227867641e-05,
      -9.08844399108724514e-07, 4.71514916371883420e-06,  1.17378911343209426e-06,
      -3.55868791680736429e-07, -2.11985263238793388e-07, 1.86049054525340916e-08,
      3.16856542871100881e-08,  2.83449000912888194e-11,  -4.41830349846233102e-09,
      -1.28812353934316787e-10, 4.53105537017394266e-10};
};

inline constexpr double kErfSmall = 0.5;

/// erf(x) for |x| < kErfSmall.
template <class V>
HEARTH_SIMD V erf_small(V x) {
  const V z = x * x;
  return mul_add(x, polynomial(z, ErfConstants<typename V::Lane>::kP), x);
}

/// erfc(a + rest) for a >= kErfSmall and |rest| up to the rounding error of a.
template <class V>
HEARTH_SIMD V erfc_large(V a, V rest) {
  using C = ErfConstants<typename V::Lane>;
  rest = select(a > V(C::kMax), V(0), rest);
  a = select(a > V(C::kMax), V(C::kMax), a);
  const V sum = a + C::kPole;
  const V t = V(C::kPole) / sum;
  // t_lo is the error of t, from the rounding of the sum and of the division.
  const V residual = mul_add(-t, sum, V(C::kPole)) - t * (a - (sum - C::kPole));
  const V t_lo = residual * t * (1 / C::kPole);
  const V q = mul_add(V(2), t, V(-1)) + 2 * t_lo;
  const V series = polynomial(q, C::kQ);
  Twofold<V> factor = exact_product(series, t);
  factor.lo = mul_add(series, t_lo, factor.lo);
  const Twofold<V> square = exact_product(a, a);
  const ExpParts<V> e = clamped_exp_parts(-square.hi, -mul_add(2 * a, rest, square.lo));
  return scale(factor.hi + mul_add(factor.hi, e.p, factor.lo), e.n);
}

template <class V>
HEARTH_SIMD V erf(V x) {
  const V a = abs(x);
  return select(a < V(kErfSmall), erf_small(x), with_sign(1 - erfc_large(a, V(0)), x));
}

template <class V>
HEARTH_SIMD V erfc(V x) {
  const V large = erfc_large(abs(x), V(0));
  return select(abs(x) < V(kErfSmall), 1 - erf_small(x), select(x < V(0), 2 - large, large));
}

}  // namespace hearth::cpu::math
