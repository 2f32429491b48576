#pragma once

#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // false alarms of GCC 12 in its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

/// x86-64-v4: 64-byte vectors.
struct Avx512Isa : PortableIsa<Avx512Isa> {
  static constexpr int kBytes = 64;
  using F32 = Native<float, 16>;
  using F64 = Native<double, 8>;

  // For vectors of other sizes, such as one lane.
  using PortableIsa<Avx512Isa>::sqrt;
  using PortableIsa<Avx512Isa>::floor;
  using PortableIsa<Avx512Isa>::ceil;
  using PortableIsa<Avx512Isa>::trunc;
  using PortableIsa<Avx512Isa>::round;
  using PortableIsa<Avx512Isa>::mul_add;
  using PortableIsa<Avx512Isa>::smaller;
  using PortableIsa<Avx512Isa>::larger;
  template <class V>
  HEARTH_SIMD static bool any(V mask) {
    if constexpr (sizeof mask < kBytes)
      return PortableIsa::any(mask);
    else
      return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
  }
  HEARTH_SIMD static F32 sqrt(F32 x) { return (F32)_mm512_sqrt_ps((__m512)x); }
  HEARTH_SIMD static F64 sqrt(F64 x) { return (F64)_mm512_sqrt_pd((__m512d)x); }
#define HEARTH_ROUND(name, mode)                                            \
  HEARTH_SIMD static F32 name(F32 x) {                                      \
    return (F32)_mm512_roundscale_ps((__m512)x, mode | _MM_FROUND_NO_EXC);  \
  }                                                                         \
  HEARTH_SIMD static F64 name(F64 x) {                                      \
    return (F64)_mm512_roundscale_pd((__m512d)x, mode | _MM_FROUND_NO_EXC); \
  }
  HEARTH_ROUND(floor, _MM_FROUND_TO_NEG_INF)
  HEARTH_ROUND(ceil, _MM_FROUND_TO_POS_INF)
  HEARTH_ROUND(trunc, _MM_FROUND_TO_ZERO)
  HEARTH_ROUND(round, _MM_FROUND_TO_NEAREST_INT)
#undef HEARTH_ROUND
  HEARTH_SIMD static F32 mul_add(F32 a, F32 b, F32 c) {
    return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
  }
  HEARTH_SIMD static F64 mul_add(F64 a, F64 b, F64 c) {
    return (F64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  }
  // The instructions return their second operand if one is NaN.
  HEARTH_SIMD static F32 smaller(F32 a, F32 b) { return (F32)_mm512_min_ps((__m512)b, (__m512)a); }
  HEARTH_SIMD static F64 smaller(F64 a, F64 b) {
    return (F64)_mm512_min_pd((__m512d)b, (__m512d)a);
  }
  HEARTH_SIMD static F32 larger(F32 a, F32 b) { return (F32)_mm512_max_ps((__m512)b, (__m512)a); }
  HEARTH_SIMD static F64 larger(F64 a, F64 b) { return (F64)_mm512_max_pd((__m512d)b, (__m512d)a); }
  /// x * 2^n.
  HEARTH_SIMD static F32 scale(F32 x, Native<uint32_t, 16> n) {
    return (F32)_mm512_scalef_ps((__m512)x, _mm512_cvtepi32_ps((__m512i)n));
  }
  HEARTH_SIMD static F64 scale(F64 x, Native<uint64_t, 8> n) {
    return (F64)_mm512_scalef_pd((__m512d)x, _mm512_cvtepi64_pd((__m512i)n));
  }

  /// Conversions of sixteen halves.
  static constexpr int kHalfLanes = 16;
  HEARTH_SIMD static void widen_halves(const void* from, void* to) {
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from))));
  }
  HEARTH_SIMD static void narrow_to_halves(const void* from, void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }

  template <class T, int N>
  HEARTH_SIMD static Native<T, N> load_first(const void* from, int n) {
    if constexpr (N == kBytes / int(sizeof(T))) {
      const uint64_t first = (uint64_t{1} << n) - 1;
      if constexpr (sizeof(T) == 1)
        return (Native<T, N>)_mm512_maskz_loadu_epi8(__mmask64(first), from);
      if constexpr (sizeof(T) == 2)
        return (Native<T, N>)_mm512_maskz_loadu_epi16(__mmask32(first), from);
      if constexpr (sizeof(T) == 4)
        return (Native<T, N>)_mm512_maskz_loadu_epi32(__mmask16(first), from);
      if constexpr (sizeof(T) == 8)
        return (Native<T, N>)_mm512_maskz_loadu_epi64(__mmask8(first), from);
    } else {
      return PortableIsa::load_first<T, N>(from, n);
    }
  }
  template <class T, int N>
  HEARTH_SIMD static void store_first(void* to, Native<T, N> x, int n) {
    if constexpr (N == kBytes / int(sizeof(T))) {
      const uint64_t first = (uint64_t{1} << n) - 1;
      if constexpr (sizeof(T) == 1) _mm512_mask_storeu_epi8(to, __mmask64(first), (__m512i)x);
      if constexpr (sizeof(T) == 2) _mm512_mask_storeu_epi16(to, __mmask32(first), (__m512i)x);
      if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, __mmask16(first), (__m512i)x);
      if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(to, __mmask8(first), (__m512i)x);
    } else {
      PortableIsa::store_first<T, N>(to, x, n);
    }
  }
};

}  // namespace hearth::cpu
