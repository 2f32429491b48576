#pragma once

// sin, cos and atan2 over Vec. sin and cos reduce the argument by multiples of pi/2 and compute the
// polynomials of both, of which each lane chooses one; their multiply-adds bound the speed or, if a
// lane exceeds kMax, a call of the C library for every lane. atan2 is bound by two divisions and a
// polynomial.

#include "kernels/cpu/math_bits.h"

namespace hearth::cpu::math {

/// The coefficients of the polynomials S and C for |r| <= pi/4, where z = r²: sin r = r + r z S(z),
/// cos r = 1 - z/2 + z² C(z). pi/2 is the sum of three numbers, by which arguments up to kMax are
/// reduced to r.
template <class T>
struct TrigConstants;
template <>
struct TrigConstants<float> {
  static constexpr float kMax = 1e5f, kTwoOverPi = 6.366197467e-01f;
  static constexpr float kHalfPi[] = {1.570796251e+00f, 7.549789416e-08f, 5.390302953e-15f};
  static constexpr float kS[] = {-1.666666716e-01f, 8.333331905e-03f, -1.984008268e-04f,
                                 2.724931392e-06f};
  static constexpr float kC[] = {4.166666791e-02f, -1.388888806e-03f, 2.480059629e-05f,
                                 -2.730044741e-07f};
};
template <>
struct TrigConstants<double> {
  static constexpr double kMax = 1e9, kTwoOverPi = 6.36619772367581382e-01;
  static constexpr double kHalfPi[] = {1.57079632679489656e+00, 6.12323399573676480e-17,
                                       1.08285667392191403e-32};
  static constexpr double kS[] = {-1.66666666666666657e-01, 8.33333333333333148e-03,
                                  -1.98412698412650166e-04, 2.75573192193019189e-06,
                                  -2.50521062195218949e-08, 1.60585295722678766e-10,
                                  -7.58657658817107251e-13};
  static constexpr double kC[] = {4.16666666666666644e-02, -1.38888888888888873e-03,
                                  2.48015873015846182e-05, -2.75573192213821143e-07,
                                  2.08767557838940379e-09, -1.14704597496756069e-11,
                                  4.74580488976067427e-14};
};

/// sin(x + quarter * pi / 2) of one lane, by the C library; quarter is 0 or 1.
template <class T, int quarter>
struct LibrarySin {
  HEARTH_SIMD T operator()(T x, T) const {
    if constexpr (sizeof(T) == 4)
      return quarter ? __builtin_cosf(x) : __builtin_sinf(x);
    else
      return quarter ? __builtin_cos(x) : __builtin_sin(x);
  }
};

/// sin(x + quarter * pi / 2).
template <int quarter, class V>
HEARTH_SIMD V shifted_sin(V x) {
  using C = TrigConstants<typename V::Lane>;
  using B = BitsOf<V>;
  if (any(abs(x) > V(C::kMax))) [[unlikely]]
    return lane_by_lane(LibrarySin<typename V::Lane, quarter>{}, x, x);
  const Rounded<V> n = round_product(x, V(C::kTwoOverPi));
  V r = mul_add(n.value, V(-C::kHalfPi[0]), x);
  r = mul_add(n.value, V(-C::kHalfPi[1]), r);
  r = mul_add(n.value, V(-C::kHalfPi[2]), r);
  const V z = r * r;
  const V sine = mul_add(r * z, polynomial(z, C::kS), r);
  const V cosine = mul_add(z * z, polynomial(z, C::kC), mul_add(V(-0.5), z, V(1)));
  const B quadrant = n.bits + B(quarter);
  const typename V::M even{((quadrant & B(1)) == B(0)).v};
  constexpr int to_sign = 8 * int(sizeof(typename V::Lane)) - 1;
  return V::from_bits(bits_of(select(even, sine, cosine)) ^ ((quadrant >> 1) << to_sign));
}

template <class V>
HEARTH_SIMD V sin(V x) {
  // The polynomial turns -0 into +0.
  return select(x == V(0), x, shifted_sin<0>(x));
}

template <class V>
HEARTH_SIMD V cos(V x) {
  return shifted_sin<1>(x);
}

/// The coefficients of the polynomial A for |u| <= tan(pi/8), where z = u²: atan(u) = u + u z A(z).
/// pi/4 is the sum of two numbers.
template <class T>
struct AtanConstants;
template <>
struct AtanConstants<float> {
  static constexpr float kQuarterPi[] = {7.853981853e-01f, -2.185569500e-08f};
  static constexpr float kA[] = {-3.333333176e-01f, 1.999954031e-01f, -1.426394975e-01f,
                                 1.074366832e-01f, -6.451718869e-02f};
};
template <>
struct AtanConstants<double> {
  static constexpr double kQuarterPi[] = {7.85398163397448279e-01, 3.06161699786838302e-17};
  static constexpr double kA[] = {
      -3.33333333333333315e-01, 1.99999999999998040e-01,  -1.42857142856597785e-01,
      1.11111111051505881e-01,  -9.09090875325911235e-02, 7.69229636804229649e-02,
      -6.66642476020052055e-02, 5.87892755447380691e-02,  -5.23044364068694784e-02,
      4.55154473402216153e-02,  -3.45693150633260907e-02, 1.62843750500433933e-02};
};

/// The angle of the point (x, y).
template <class V>
HEARTH_SIMD V atan2(V y, V x) {
  using C = AtanConstants<typename V::Lane>;
  const V height = abs(y), width = abs(x);
  const V larger = maximum(width, height), smaller = minimum(width, height);
  V t = select(larger == V(0), larger, smaller / larger);
  t = select(smaller == V(kInf<V>), V(1), t);
  // The result is atan(u) or its negative, plus a multiple of pi/4 (an eighth of a turn).
  const auto turned = t > V(0.41421356);  // tan(pi/8)
  const V u = select(turned, (t - 1) / (t + 1), t);
  const V z = u * u;
  V angle = mul_add(u * z, polynomial(z, C::kA), u);
  V eighths = select(turned, V(1), V(0));
  const auto steep = height > width;
  angle = select(steep, -angle, angle);
  eighths = select(steep, 2 - eighths, eighths);
  const auto left = signbit(x);
  angle = select(left, -angle, angle);
  eighths = select(left, 4 - eighths, eighths);
  return with_sign(
      mul_add(eighths, V(C::kQuarterPi[0]), mul_add(eighths, V(C::kQuarterPi[1]), angle)), y);
}

}  // namespace hearth::cpu::math
