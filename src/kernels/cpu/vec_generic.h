#pragma once

#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// Operations without intrinsics, for vectors of any size on any processor. The other Isa tags
/// inherit them and override some.
template <class Self>
struct PortableIsa {
  template <class V>
  HEARTH_SIMD static bool any(V mask) {
    bool result = false;
    for (unsigned i = 0; i < sizeof mask / sizeof mask[0]; ++i) result |= mask[i] != 0;
    return result;
  }

#define HEARTH_LANEWISE(name, function_f32, function_f64)                               \
  template <class V>                                                                    \
  HEARTH_SIMD static V name(V x) {                                                      \
    for (unsigned i = 0; i < sizeof x / sizeof x[0]; ++i)                               \
      x[i] = sizeof x[0] == 4 ? function_f32(float(x[i])) : function_f64(double(x[i])); \
    return x;                                                                           \
  }
  HEARTH_LANEWISE(sqrt, __builtin_sqrtf, __builtin_sqrt)
  HEARTH_LANEWISE(floor, __builtin_floorf, __builtin_floor)
  HEARTH_LANEWISE(ceil, __builtin_ceilf, __builtin_ceil)
  HEARTH_LANEWISE(trunc, __builtin_truncf, __builtin_trunc)
  HEARTH_LANEWISE(round, __builtin_rintf, __builtin_rint)
#undef HEARTH_LANEWISE

  template <class V>
  HEARTH_SIMD static V mul_add(V a, V b, V c) {
    for (unsigned i = 0; i < sizeof a / sizeof a[0]; ++i)
      a[i] = sizeof a[0] == 4 ? __builtin_fmaf(float(a[i]), float(b[i]), float(c[i]))
                              : __builtin_fma(double(a[i]), double(b[i]), double(c[i]));
    return a;
  }

  template <class V>
  HEARTH_SIMD static V smaller(V a, V b) {
    return b < a ? b : a;
  }
  template <class V>
  HEARTH_SIMD static V larger(V a, V b) {
    return b > a ? b : a;
  }

  /// Returns the lanes of a mask as bytes 0 and 255.
  template <class Bytes, class V>
  HEARTH_SIMD static Bytes narrow(V mask) {
    return __builtin_convertvector(mask, Bytes);
  }

  template <class T, int N>
  HEARTH_SIMD static Native<T, N> load_first(const void* from, int n) {
    Native<T, N> x{};
    __builtin_memcpy(&x, from, sizeof(T) * static_cast<unsigned>(n));
    return x;
  }
  template <class T, int N>
  HEARTH_SIMD static void store_first(void* to, Native<T, N> x, int n) {
    __builtin_memcpy(to, &x, sizeof(T) * static_cast<unsigned>(n));
  }
};

/// Any processor: 16-byte vectors.
struct GenericIsa : PortableIsa<GenericIsa> {
  static constexpr int kBytes = 16;
};

}  // namespace hearth::cpu
