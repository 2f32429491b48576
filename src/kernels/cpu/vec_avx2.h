#pragma once

#include <immintrin.h>

#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

/// x86-64-v3: 32-byte vectors.
struct Avx2Isa : PortableIsa<Avx2Isa> {
  static constexpr int kBytes = 32;
  using F32 = Native<float, 8>;
  using F64 = Native<double, 4>;

  // For vectors of other sizes, such as one lane.
  using PortableIsa<Avx2Isa>::sqrt;
  using PortableIsa<Avx2Isa>::floor;
  using PortableIsa<Avx2Isa>::ceil;
  using PortableIsa<Avx2Isa>::trunc;
  using PortableIsa<Avx2Isa>::round;
  using PortableIsa<Avx2Isa>::mul_add;
  using PortableIsa<Avx2Isa>::smaller;
  using PortableIsa<Avx2Isa>::larger;
  template <class V>
  HEARTH_SIMD static bool any(V mask) {
    if constexpr (sizeof mask < kBytes)
      return PortableIsa::any(mask);
    else
      return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
  }
  HEARTH_SIMD static F32 sqrt(F32 x) { return (F32)_mm256_sqrt_ps((__m256)x); }
  HEARTH_SIMD static F64 sqrt(F64 x) { return (F64)_mm256_sqrt_pd((__m256d)x); }
#define HEARTH_ROUND(name, mode)                                       \
  HEARTH_SIMD static F32 name(F32 x) {                                 \
    return (F32)_mm256_round_ps((__m256)x, mode | _MM_FROUND_NO_EXC);  \
  }                                                                    \
  HEARTH_SIMD static F64 name(F64 x) {                                 \
    return (F64)_mm256_round_pd((__m256d)x, mode | _MM_FROUND_NO_EXC); \
  }
  HEARTH_ROUND(floor, _MM_FROUND_TO_NEG_INF)
  HEARTH_ROUND(ceil, _MM_FROUND_TO_POS_INF)
  HEARTH_ROUND(trunc, _MM_FROUND_TO_ZERO)
  HEARTH_ROUND(round, _MM_FROUND_TO_NEAREST_INT)
#undef HEARTH_ROUND
  HEARTH_SIMD static F32 mul_add(F32 a, F32 b, F32 c) {
    return (F32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  }
  HEARTH_SIMD static F64 mul_add(F64 a, F64 b, F64 c) {
    return (F64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  }
  // The instructions return their second operand if one is NaN.
  HEARTH_SIMD static F32 smaller(F32 a, F32 b) { return (F32)_mm256_min_ps((__m256)b, (__m256)a); }
  HEARTH_SIMD static F64 smaller(F64 a, F64 b) {
    return (F64)_mm256_min_pd((__m256d)b, (__m256d)a);
  }
  HEARTH_SIMD static F32 larger(F32 a, F32 b) { return (F32)_mm256_max_ps((__m256)b, (__m256)a); }
  HEARTH_SIMD static F64 larger(F64 a, F64 b) { return (F64)_mm256_max_pd((__m256d)b, (__m256d)a); }

  template <class Bytes, class V>
  HEARTH_SIMD static Bytes narrow(V mask) {
    if constexpr (sizeof mask[0] == 1) {
      return (Bytes)mask;
    } else {
      const __m128i low = _mm256_castsi256_si128((__m256i)mask);
      const __m128i high = _mm256_extracti128_si256((__m256i)mask, 1);
      __m128i packed;
      if constexpr (sizeof mask[0] == 8)  // keeps the lower half of each lane
        packed =
            _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0x88));
      else
        packed = sizeof mask[0] == 4 ? _mm_packs_epi32(low, high) : _mm_packs_epi16(low, high);
      if constexpr (sizeof mask[0] == 8) packed = _mm_packs_epi32(packed, packed);
      if constexpr (sizeof mask[0] >= 4) packed = _mm_packs_epi16(packed, packed);
      Bytes result;
      __builtin_memcpy(&result, &packed, sizeof result);
      return result;
    }
  }

  /// Conversions of eight halves.
  static constexpr int kHalfLanes = 8;
  HEARTH_SIMD static void widen_halves(const void* from, void* to) {
    _mm256_storeu_ps(static_cast<float*>(to),
                     _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from))));
  }
  HEARTH_SIMD static void narrow_to_halves(const void* from, void* to) {
    _mm_storeu_si128(static_cast<__m128i*>(to),
                     _mm256_cvtps_ph(_mm256_loadu_ps(static_cast<const float*>(from)),
                                     _MM_FROUND_TO_NEAREST_INT));
  }

  /// The mask of the first n lanes, for masked loads and stores of 4 and 8 bytes.
  template <class T, int N>
  HEARTH_SIMD static __m256i first(int n) {
    using I = typename LaneTraits<T>::Int;
    Native<I, N> lane;
    for (int i = 0; i < N; ++i) lane[i] = I(i);
    return (__m256i)(lane < I(n) - Native<I, N>{});
  }
  template <class T, int N>
  HEARTH_SIMD static Native<T, N> load_first(const void* from, int n) {
    if constexpr (sizeof(T) == 4)
      return (Native<T, N>)_mm256_maskload_epi32(static_cast<const int*>(from), first<T, N>(n));
    else if constexpr (sizeof(T) == 8)
      return (Native<T, N>)_mm256_maskload_epi64(static_cast<const long long*>(from),
                                                 first<T, N>(n));
    else
      return PortableIsa::load_first<T, N>(from, n);
  }
  template <class T, int N>
  HEARTH_SIMD static void store_first(void* to, Native<T, N> x, int n) {
    if constexpr (sizeof(T) == 4)
      _mm256_maskstore_epi32(static_cast<int*>(to), first<T, N>(n), (__m256i)x);
    else if constexpr (sizeof(T) == 8)
      _mm256_maskstore_epi64(static_cast<long long*>(to), first<T, N>(n), (__m256i)x);
    else
      PortableIsa::store_first<T, N>(to, x, n);
  }
};

}  // namespace hearth::cpu
