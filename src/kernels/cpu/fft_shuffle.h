#pragma once

// Converts between pairs of neighbours in memory and separate vectors of first and second numbers,
// and transposes squares of pairs. Included only by fft_loops.h.

#include <utility>

#include "kernels/cpu/fft_butterfly.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class V>
struct FftShuffle {
  using T = typename V::Lane;
  using Number = FftNumber<V>;
  static constexpr int kLanes = V::kLanes;

  /// Lane i of the result is lane Index::of(i) of the 2 * kLanes lanes of a and b.
  template <class Index, int... i>
  HEARTH_SIMD static V choose(V a, V b, std::integer_sequence<int, i...>) {
    return {__builtin_shufflevector(a.v, b.v, Index::of(i)...), Raw{}};
  }
  template <class Index>
  HEARTH_SIMD static V choose(V a, V b) {
    return choose<Index>(a, b, std::make_integer_sequence<int, kLanes>());
  }
  template <int offset>
  struct Every2nd {
    static constexpr int of(int i) { return 2 * i + offset; }
  };
  template <int offset>
  struct Alternating {
    static constexpr int of(int i) { return offset + i / 2 + (i % 2) * kLanes; }
  };
  /// One step of a transposition, which exchanges the blocks of `width` pairs beside the diagonal:
  /// gives the row with the larger index if `upper`, else the other one.
  template <int width, bool upper>
  struct Exchange {
    static constexpr int of(int i) {
      const bool second = i / 2 & width;
      if (upper) return second ? kLanes + i : i + 2 * width;
      return second ? kLanes + i - 2 * width : i;
    }
  };

  /// The first and the second numbers of the pairs in two vectors.
  HEARTH_SIMD static Number parted(V low, V high) {
    return {choose<Every2nd<0>>(low, high), choose<Every2nd<1>>(low, high)};
  }
  HEARTH_SIMD static Number parted(const T* from) {
    if constexpr (kLanes == 1)
      return Number::load(from);
    else
      return parted(V::load(from), V::load(from + kLanes));
  }
  /// The inverse of parted().
  HEARTH_SIMD static void mix(Number x, V& low, V& high) {
    low = choose<Alternating<0>>(x.re, x.im);
    high = choose<Alternating<kLanes / 2>>(x.re, x.im);
  }
  HEARTH_SIMD static void mix(Number x, T* to) {
    V low, high;
    mix(x, low, high);
    low.store(to);
    high.store(to + kLanes);
  }
  /// Transposes the square of pairs in kLanes / 2 vectors.
  template <int width = kLanes / 4>
  HEARTH_SIMD static void transpose(V* rows) {
    if constexpr (width > 0) {
#pragma GCC unroll 8
      for (int i = 0; i < kLanes / 2; ++i) {
        if (i & width) continue;
        const V a = rows[i], b = rows[i + width];
        rows[i] = choose<Exchange<width, false>>(a, b);
        rows[i + width] = choose<Exchange<width, true>>(a, b);
      }
      transpose<width / 2>(rows);
    }
  }
};

}  // namespace hearth::cpu
