#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "c10/namespaces.h"
#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"

// LibTorch's SIMD registers, as arrays whose loops the compiler can turn into SIMD instructions.
namespace at::vec {

/// 32 bytes of numbers, with operations on all of them.
template <class T>
class Vectorized {
 public:
  using value_type = T;
  using size_type = int;
  static constexpr size_type size() { return 32 / sizeof(T); }

  Vectorized() = default;
  Vectorized(T value) { std::fill_n(values_, size(), value); }
  template <class... Values>
  requires(sizeof...(Values) == 32 / sizeof(T)) Vectorized(Values... values)
      : values_{static_cast<T>(values)...} {}
  static Vectorized loadu(const void* from, int64_t count = size()) {
    Vectorized result;
    std::memcpy(result.values_, from, static_cast<size_t>(count) * sizeof(T));
    return result;
  }
  void store(void* to, int64_t count = size()) const {
    std::memcpy(to, values_, static_cast<size_t>(count) * sizeof(T));
  }
  const T& operator[](int i) const { return values_[i]; }
  T& operator[](int i) { return values_[i]; }

  /// first, first + step, …
  template <class Step>
  static Vectorized arange(T first = T(0), Step step = Step(1)) {
    Vectorized result;
    for (int i = 0; i < size(); ++i) result[i] = first + T(i) * T(step);
    return result;
  }
  /// The first `count` numbers of b, then those of a.
  static Vectorized set(const Vectorized& a, const Vectorized& b, int64_t count = size()) {
    Vectorized result = a;
    std::copy_n(b.values_, count, result.values_);
    return result;
  }
  /// b where the mask has its sign bit set, as comparisons set it, else a.
  static Vectorized blendv(const Vectorized& a, const Vectorized& b, const Vectorized& mask) {
    Vectorized result;
    for (int i = 0; i < size(); ++i) result[i] = is_set(mask[i]) ? b[i] : a[i];
    return result;
  }

  template <class F>
  Vectorized map(F f) const {
    Vectorized result;
    for (int i = 0; i < size(); ++i) result[i] = f(values_[i]);
    return result;
  }
  template <class F>
  Vectorized map2(const Vectorized& other, F f) const {
    Vectorized result;
    for (int i = 0; i < size(); ++i) result[i] = f(values_[i], other[i]);
    return result;
  }
#define HEARTH_VECTORIZED_FUNCTION(name)             \
  Vectorized name() const {                          \
    return map([](T x) { return T(std::name(x)); }); \
  }
  HEARTH_VECTORIZED_FUNCTION(abs)
  HEARTH_VECTORIZED_FUNCTION(exp)
  HEARTH_VECTORIZED_FUNCTION(exp2)
  HEARTH_VECTORIZED_FUNCTION(expm1)
  HEARTH_VECTORIZED_FUNCTION(log)
  HEARTH_VECTORIZED_FUNCTION(log2)
  HEARTH_VECTORIZED_FUNCTION(log10)
  HEARTH_VECTORIZED_FUNCTION(log1p)
  HEARTH_VECTORIZED_FUNCTION(sqrt)
  HEARTH_VECTORIZED_FUNCTION(sin)
  HEARTH_VECTORIZED_FUNCTION(cos)
  HEARTH_VECTORIZED_FUNCTION(tan)
  HEARTH_VECTORIZED_FUNCTION(tanh)
  HEARTH_VECTORIZED_FUNCTION(erf)
  HEARTH_VECTORIZED_FUNCTION(floor)
  HEARTH_VECTORIZED_FUNCTION(ceil)
  HEARTH_VECTORIZED_FUNCTION(trunc)
#undef HEARTH_VECTORIZED_FUNCTION
  Vectorized exp_u20() const { return exp(); }
  Vectorized round() const {
    return map([](T x) { return T(std::nearbyint(x)); });
  }
  Vectorized neg() const {
    return map([](T x) { return T(-x); });
  }
  Vectorized reciprocal() const {
    return map([](T x) { return T(1) / x; });
  }
  Vectorized rsqrt() const {
    return map([](T x) { return T(1) / T(std::sqrt(x)); });
  }
  Vectorized pow(const Vectorized& exponent) const {
    return map2(exponent, [](T x, T y) { return T(std::pow(x, y)); });
  }

#define HEARTH_VECTORIZED_OPERATOR(op)                                      \
  friend Vectorized operator op(const Vectorized& a, const Vectorized& b) { \
    return a.map2(b, [](T x, T y) { return T(x op y); });                   \
  }                                                                         \
  Vectorized& operator op##=(const Vectorized& b) { return *this = *this op b; }
  HEARTH_VECTORIZED_OPERATOR(+)
  HEARTH_VECTORIZED_OPERATOR(-)
  HEARTH_VECTORIZED_OPERATOR(*)
  HEARTH_VECTORIZED_OPERATOR(/)
#undef HEARTH_VECTORIZED_OPERATOR
  // Comparisons: operators set all bits where they hold, functions give 1.
#define HEARTH_VECTORIZED_COMPARISON(op, name)                              \
  friend Vectorized operator op(const Vectorized& a, const Vectorized& b) { \
    return a.map2(b, [](T x, T y) { return mask_of(x op y); });             \
  }                                                                         \
  Vectorized name(const Vectorized& b) const {                              \
    return map2(b, [](T x, T y) { return T(x op y ? 1 : 0); });             \
  }
  HEARTH_VECTORIZED_COMPARISON(==, eq)
  HEARTH_VECTORIZED_COMPARISON(!=, ne)
  HEARTH_VECTORIZED_COMPARISON(<, lt)
  HEARTH_VECTORIZED_COMPARISON(<=, le)
  HEARTH_VECTORIZED_COMPARISON(>, gt)
  HEARTH_VECTORIZED_COMPARISON(>=, ge)
#undef HEARTH_VECTORIZED_COMPARISON

 private:
  static T mask_of(bool holds) {
    T mask;
    std::memset(static_cast<void*>(&mask), holds ? 0xff : 0, sizeof(T));
    return mask;
  }
  static bool is_set(const T& mask) {
    return (reinterpret_cast<const unsigned char*>(&mask)[sizeof(T) - 1] & 0x80) != 0;
  }

  alignas(16) T values_[32 / sizeof(T)] = {};
};

template <class T>
Vectorized<T> fmadd(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b + c;
}
template <class T>
Vectorized<T> fmsub(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b - c;
}
/// The larger number; NaN if one is NaN.
template <class T>
Vectorized<T> maximum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, [](T x, T y) { return x != x ? x : y != y ? y : std::max(x, y); });
}
/// The smaller number; NaN if one is NaN.
template <class T>
Vectorized<T> minimum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, [](T x, T y) { return x != x ? x : y != y ? y : std::min(x, y); });
}
template <class T>
Vectorized<T> clamp_min(const Vectorized<T>& a, const Vectorized<T>& low) {
  return a.map2(low, [](T x, T y) { return x < y ? y : x; });
}
template <class T>
Vectorized<T> clamp_max(const Vectorized<T>& a, const Vectorized<T>& high) {
  return a.map2(high, [](T x, T y) { return x > y ? y : x; });
}
template <class T>
Vectorized<T> clamp(const Vectorized<T>& a, const Vectorized<T>& low, const Vectorized<T>& high) {
  return clamp_max(clamp_min(a, low), high);
}

}  // namespace at::vec
