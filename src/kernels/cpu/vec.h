#pragma once

// The vectors and masks of SIMD code. Every template with functions has an Isa tag (a struct of
// vec_<isa>.h) as an argument, and no SIMD code uses the standard library's inline functions: the
// linker keeps one copy of an inline function, which must not be compiled for a newer processor.

#include <cstdint>
#include <type_traits>

#include "functors/hd.h"

/// Marks functions of SIMD code, which may not be compiled out of line under a name that several
/// instruction sets share.
#define HEARTH_SIMD [[gnu::always_inline]] inline

namespace hearth::cpu {

/// A native vector of N lanes.
template <class T, int N>
struct NativeOf {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
template <class T, int N>
using Native = typename NativeOf<T, N>::type;

/// The properties of a lane type.
template <class T>
struct LaneTraits;
template <class T, class I, class U, bool integral>
struct LaneTraitsBase {
  using Int = I;
  using Unsigned = U;
  static constexpr bool kIntegral = integral;
};
template <>
struct LaneTraits<float> : LaneTraitsBase<float, int32_t, uint32_t, false> {};
template <>
struct LaneTraits<double> : LaneTraitsBase<double, int64_t, uint64_t, false> {};
template <>
struct LaneTraits<int8_t> : LaneTraitsBase<int8_t, int8_t, uint8_t, true> {};
template <>
struct LaneTraits<uint8_t> : LaneTraitsBase<uint8_t, int8_t, uint8_t, true> {};
template <>
struct LaneTraits<int16_t> : LaneTraitsBase<int16_t, int16_t, uint16_t, true> {};
template <>
struct LaneTraits<int32_t> : LaneTraitsBase<int32_t, int32_t, uint32_t, true> {};
template <>
struct LaneTraits<uint32_t> : LaneTraitsBase<uint32_t, int32_t, uint32_t, true> {};
template <>
struct LaneTraits<int64_t> : LaneTraitsBase<int64_t, int64_t, uint64_t, true> {};
template <>
struct LaneTraits<uint64_t> : LaneTraitsBase<uint64_t, int64_t, uint64_t, true> {};

template <class T, int N, class Isa>
struct Vec;

namespace math {
#define HEARTH_DECLARE_UNARY(name) \
  template <class V>               \
  HEARTH_SIMD V name(V x);
HEARTH_VALUE_UNARY(HEARTH_DECLARE_UNARY)
#undef HEARTH_DECLARE_UNARY
#define HEARTH_DECLARE_BINARY(name) \
  template <class V>                \
  HEARTH_SIMD V name(V a, V b);
HEARTH_VALUE_BINARY(HEARTH_DECLARE_BINARY)
#undef HEARTH_DECLARE_BINARY
template <class V>
HEARTH_SIMD V quotient(V a, V b);
}  // namespace math

/// Marks the constructor from a native vector, so that only numbers convert implicitly.
struct Raw {};

/// The result of a comparison: all bits of a lane are set where it is true.
template <class T, int N, class Isa>
struct Mask {
  using Int = typename LaneTraits<T>::Int;
  using Value = Vec<T, N, Isa>;
  Native<Int, N> v;

  HEARTH_SIMD friend Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
  HEARTH_SIMD friend Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
  HEARTH_SIMD friend Mask operator!(Mask a) { return {~a.v}; }
  HEARTH_SIMD friend bool any(Mask a) { return Isa::any(a.v); }
  HEARTH_SIMD friend Value select(Mask m, Value a, Value b) { return {m.v ? a.v : b.v, Raw{}}; }
};

/// N lanes of T.
template <class T, int N, class Isa>
struct Vec {
  using Lane = T;
  using IsaTag = Isa;
  using Int = Vec<typename LaneTraits<T>::Int, N, Isa>;
  using Unsigned = Vec<typename LaneTraits<T>::Unsigned, N, Isa>;
  using NativeUnsigned = Native<typename LaneTraits<T>::Unsigned, N>;
  using M = Mask<T, N, Isa>;
  static constexpr int kLanes = N;
  static constexpr int kBits = 8 * int(sizeof(T));
  static constexpr bool kIntegral = LaneTraits<T>::kIntegral;

  Native<T, N> v;

  Vec() = default;
  HEARTH_SIMD Vec(Native<T, N> native, Raw) : v(native) {}
  /// Sets all lanes to s. Subtracting zero keeps -0.
  template <class S>
  requires(std::is_arithmetic_v<S>) HEARTH_SIMD Vec(S s) : v(static_cast<T>(s) - Native<T, N>{}) {}

// Integers wrap, so they are computed as unsigned lanes.
#define HEARTH_VEC_ARITHMETIC(op)                                                 \
  HEARTH_SIMD friend Vec operator op(Vec a, Vec b) {                              \
    if constexpr (kIntegral)                                                      \
      return {(Native<T, N>)((NativeUnsigned)a.v op(NativeUnsigned) b.v), Raw{}}; \
    else                                                                          \
      return {a.v op b.v, Raw{}};                                                 \
  }
  HEARTH_VEC_ARITHMETIC(+)
  HEARTH_VEC_ARITHMETIC(-)
  HEARTH_VEC_ARITHMETIC(*)
#undef HEARTH_VEC_ARITHMETIC
  HEARTH_SIMD friend Vec operator/(Vec a, Vec b) { return {a.v / b.v, Raw{}}; }
  HEARTH_SIMD friend Vec operator-(Vec a) {
    if constexpr (kIntegral)
      return Vec(0) - a;
    else
      return {-a.v, Raw{}};
  }
  HEARTH_SIMD friend Vec operator&(Vec a, Vec b) { return {a.v & b.v, Raw{}}; }
  HEARTH_SIMD friend Vec operator|(Vec a, Vec b) { return {a.v | b.v, Raw{}}; }
  HEARTH_SIMD friend Vec operator^(Vec a, Vec b) { return {a.v ^ b.v, Raw{}}; }
  HEARTH_SIMD friend Vec operator~(Vec a) { return {~a.v, Raw{}}; }
  HEARTH_SIMD friend Vec operator<<(Vec a, int bits) { return {a.v << bits, Raw{}}; }
  HEARTH_SIMD friend Vec operator>>(Vec a, int bits) { return {a.v >> bits, Raw{}}; }

#define HEARTH_VEC_COMPARISON(op) \
  HEARTH_SIMD friend M operator op(Vec a, Vec b) { return {a.v op b.v}; }
  HEARTH_VEC_COMPARISON(==)
  HEARTH_VEC_COMPARISON(!=)
  HEARTH_VEC_COMPARISON(<)
  HEARTH_VEC_COMPARISON(<=)
  HEARTH_VEC_COMPARISON(>)
  HEARTH_VEC_COMPARISON(>=)
#undef HEARTH_VEC_COMPARISON

#define HEARTH_VEC_UNARY(name) \
  HEARTH_SIMD friend Vec name(Vec x) { return math::name(x); }
  HEARTH_VALUE_UNARY(HEARTH_VEC_UNARY)
#undef HEARTH_VEC_UNARY
#define HEARTH_VEC_BINARY(name) \
  HEARTH_SIMD friend Vec name(Vec a, Vec b) { return math::name(a, b); }
  HEARTH_VALUE_BINARY(HEARTH_VEC_BINARY)
#undef HEARTH_VEC_BINARY
  HEARTH_SIMD friend M isnan(Vec x) { return x != x; }
  HEARTH_SIMD friend M isinf(Vec x) {
    if constexpr (kIntegral)
      return x != x;
    else
      return abs(x) == Vec(__builtin_inf());
  }
  HEARTH_SIMD friend M signbit(Vec x) {
    if constexpr (kIntegral)
      return x < Vec(0);
    else
      return {
          ((Native<typename LaneTraits<T>::Int, N>)x.v < Native<typename LaneTraits<T>::Int, N>{})};
  }

  /// The quotient of integers, rounded towards zero.
  HEARTH_SIMD friend Vec quotient(Vec a, Vec b) { return math::quotient(a, b); }
  /// Shifts of integers by b bits; a negative b, or one above kBits - 1, shifts all bits out.
  HEARTH_SIMD friend Vec shift_left(Vec a, Vec b) {
    const auto out_of_range = (b < Vec(0)) | (b >= Vec(kBits));
    const Vec bits = select(out_of_range, Vec(0), b);
    return select(out_of_range, Vec(0),
                  Vec((Native<T, N>)((NativeUnsigned)a.v << (NativeUnsigned)bits.v), Raw{}));
  }
  HEARTH_SIMD friend Vec shift_right(Vec a, Vec b) {
    const auto out_of_range = (b < Vec(0)) | (b >= Vec(kBits));
    const Vec shifted{a.v >> select(out_of_range, Vec(kBits - 1), b).v, Raw{}};
    return std::is_unsigned_v<T> ? select(out_of_range, Vec(0), shifted) : shifted;
  }

  /// a * b + c, rounded once.
  HEARTH_SIMD friend Vec mul_add(Vec a, Vec b, Vec c) {
    return {Isa::mul_add(a.v, b.v, c.v), Raw{}};
  }
  /// The smaller, or larger, of a and b; a NaN in a stays, one in b is ignored.
  HEARTH_SIMD friend Vec smaller(Vec a, Vec b) { return {Isa::smaller(a.v, b.v), Raw{}}; }
  HEARTH_SIMD friend Vec larger(Vec a, Vec b) { return {Isa::larger(a.v, b.v), Raw{}}; }
  /// bits_of and from_bits reinterpret lanes as unsigned integers, and back.
  HEARTH_SIMD friend Unsigned bits_of(Vec x) { return {(typename Vec::NativeUnsigned)x.v, Raw{}}; }
  HEARTH_SIMD static Vec from_bits(Unsigned bits) { return {(Native<T, N>)bits.v, Raw{}}; }

  HEARTH_SIMD static Vec load(const void* from) {
    Vec x;
    __builtin_memcpy(&x.v, from, sizeof x.v);
    return x;
  }
  HEARTH_SIMD void store(void* to) const { __builtin_memcpy(to, &v, sizeof v); }
  /// Loads the first n < N lanes, and sets the others to zero.
  HEARTH_SIMD static Vec load_first(const void* from, int n) {
    return {Isa::template load_first<T, N>(from, n), Raw{}};
  }
  HEARTH_SIMD void store_first(void* to, int n) const { Isa::template store_first<T, N>(to, v, n); }
};

/// A vector of a whole register of the Isa.
template <class T, class Isa>
using FullVec = Vec<T, Isa::kBytes / int(sizeof(T)), Isa>;

}  // namespace hearth::cpu
