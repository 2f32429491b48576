#pragma once

// Conversions of contiguous elements between all dtypes for one instruction set: plain loops that
// compilers vectorise, and instructions for halves where the Isa has them. Bound by memory; in the
// cache, by the instructions of a conversion. Nothing here uses the inline functions of half.h; see
// vec.h for why.

#include <type_traits>

#include "hearth/dtype.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// Half types and complex numbers as plain structs, without functions of their own.
struct HalfBits {
  uint16_t x;
};
struct BFloat16Bits {
  uint16_t x;
};
template <class T>
struct ComplexPair {
  using Part = T;
  T re, im;
};
template <class T>
inline constexpr bool is_complex_pair = false;
template <class T>
inline constexpr bool is_complex_pair<ComplexPair<T>> = true;

template <ScalarType D>
struct ElementOf;
template <>
struct ElementOf<kByte> {
  using type = uint8_t;
};
template <>
struct ElementOf<kChar> {
  using type = int8_t;
};
template <>
struct ElementOf<kShort> {
  using type = int16_t;
};
template <>
struct ElementOf<kInt> {
  using type = int32_t;
};
template <>
struct ElementOf<kLong> {
  using type = int64_t;
};
template <>
struct ElementOf<kHalf> {
  using type = HalfBits;
};
template <>
struct ElementOf<kFloat> {
  using type = float;
};
template <>
struct ElementOf<kDouble> {
  using type = double;
};
template <>
struct ElementOf<kComplexFloat> {
  using type = ComplexPair<float>;
};
template <>
struct ElementOf<kComplexDouble> {
  using type = ComplexPair<double>;
};
template <>
struct ElementOf<kBool> {
  using type = bool;
};
template <>
struct ElementOf<kBFloat16> {
  using type = BFloat16Bits;
};
template <ScalarType D>
using Element = typename ElementOf<D>::type;

/// Conversions of one element, compiled for one Isa.
template <class Isa>
struct Cast {
  HEARTH_SIMD static float widen(BFloat16Bits x) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(x.x) << 16);
  }
  HEARTH_SIMD static float widen(HalfBits x) {
    const uint32_t sign = (x.x & 0x8000u) << 16;
    const uint32_t rest = x.x & 0x7fffu;
    // After the shift the exponent is too small by 112; the product adds it and normalises
    // denormals.
    const float normal = __builtin_bit_cast(float, rest << 13) * 0x1p112f;
    const uint32_t special = 0x7f800000u | rest << 13;
    const uint32_t bits = rest >= 0x7c00u ? special : __builtin_bit_cast(uint32_t, normal);
    return __builtin_bit_cast(float, sign | bits);
  }
  HEARTH_SIMD static BFloat16Bits to_bfloat16(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;  // half to even
    return {static_cast<uint16_t>(x != x ? 0x7fc0u : rounded)};
  }
  HEARTH_SIMD static HalfBits to_half(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t rest = bits & 0x7fffffffu;
    // Adding 0.5 rounds to multiples of 2^-24, the denormals' step.
    const float shifted = __builtin_bit_cast(float, rest) + 0.5f;
    const uint32_t denormal = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000u;
    // Rounds half to even; the exponents of the types differ by 112, at bit 23.
    const uint32_t normal = (rest + 0xfffu + ((rest >> 13) & 1u) - 0x38000000u) >> 13;
    const uint32_t finite = rest < 0x38800000u ? denormal : normal;  // below 2^-14
    // NaN, or infinity, to which numbers from 65520 (0x477ff000) on are rounded.
    const uint32_t large = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return {static_cast<uint16_t>(sign | (rest >= 0x477ff000u ? large : finite))};
  }

  /// x rounded towards zero; the lowest integer if the type I cannot hold it, as in x86
  /// instructions.
  template <class I, class F>
  HEARTH_SIMD static I truncate(F x) {
    constexpr F limit = sizeof(I) == 4 ? F(0x1p31) : F(0x1p63);
    constexpr I lowest =
        static_cast<I>(static_cast<std::make_unsigned_t<I>>(1) << (8 * sizeof(I) - 1));
    return x >= -limit && x < limit ? static_cast<I>(x) : lowest;
  }

  template <class To, class From>
  HEARTH_SIMD static To of(From x) {
    constexpr bool half_source =
        std::is_same_v<From, HalfBits> || std::is_same_v<From, BFloat16Bits>;
    constexpr bool half_result = std::is_same_v<To, HalfBits> || std::is_same_v<To, BFloat16Bits>;
    if constexpr (std::is_same_v<To, From>)
      return x;
    else if constexpr (half_source)
      return of<To>(widen(x));
    else if constexpr (std::is_same_v<To, HalfBits> && std::is_same_v<From, float>)
      return to_half(x);
    else if constexpr (std::is_same_v<To, BFloat16Bits> && std::is_same_v<From, float>)
      return to_bfloat16(x);
    else if constexpr (half_result)
      return of<To>(of<float>(x));
    else
      return full<To>(x);
  }

 private:
  /// Conversions without half types.
  template <class To, class From>
  HEARTH_SIMD static To full(From x) {
    if constexpr (is_complex_pair<From> && is_complex_pair<To>)
      return {static_cast<typename To::Part>(x.re), static_cast<typename To::Part>(x.im)};
    else if constexpr (is_complex_pair<To>)
      return {static_cast<typename To::Part>(x), 0};
    else if constexpr (is_complex_pair<From> && std::is_same_v<To, bool>)
      return (x.re != 0) | (x.im != 0);
    else if constexpr (is_complex_pair<From>)
      return full<To>(x.re);
    else if constexpr (std::is_same_v<To, bool>)
      return x != 0;
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
      return static_cast<To>(
          truncate<std::conditional_t<sizeof(To) == 8 || std::is_unsigned_v<To>, int64_t, int32_t>>(
              x));
    else
      return static_cast<To>(x);
  }
};

/// Converts n contiguous elements (a ConvertFn).
template <ScalarType from_dtype, ScalarType to_dtype, class Isa>
void convert(const void* from, void* to, int64_t n) {
  using From = Element<from_dtype>;
  using To = Element<to_dtype>;
  const From* __restrict source = static_cast<const From*>(from);
  To* __restrict result = static_cast<To*>(to);
  int64_t i = 0;
  if constexpr (requires { Isa::kHalfLanes; } && std::is_same_v<From, HalfBits> &&
                std::is_same_v<To, float>)
    for (; i + Isa::kHalfLanes <= n; i += Isa::kHalfLanes)
      Isa::widen_halves(source + i, result + i);
  if constexpr (requires { Isa::kHalfLanes; } && std::is_same_v<From, float> &&
                std::is_same_v<To, HalfBits>)
    for (; i + Isa::kHalfLanes <= n; i += Isa::kHalfLanes)
      Isa::narrow_to_halves(source + i, result + i);
  // With a fixed inner count, compilers vectorise the loop regardless of their cost model.
  constexpr int kStep = 32;
  for (; i + kStep <= n; i += kStep)
    for (int k = 0; k < kStep; ++k) result[i + k] = Cast<Isa>::template of<To>(source[i + k]);
  for (; i < n; ++i) result[i] = Cast<Isa>::template of<To>(source[i]);
}

}  // namespace hearth::cpu
