#pragma once

// The inner loop of max pooling, for one instruction set: a vector holds adjacent windows, whose
// stride is 1 or 2, or adjacent channels of one window. Loads limit the speed. Included only by
// pool_max_@target@.cpp.in.

#include <utility>

#include "kernels/cpu/pool_max_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class Isa>
struct PoolMaxLoops {
  using V = FullVec<float, Isa>;
  using I = typename V::Int;
  static constexpr int kLanes = V::kLanes;

  static void maxima(const PoolMaxWindows& p) {
    int64_t j = 0;
    // With stride 2, windows<kLanes>() loads one element after its last window. The last vector of
    // a row must not, so windows<0>() computes it, even if it is whole.
    for (; j + kLanes < p.windows; j += kLanes) windows<kLanes>(p, j, kLanes);
    windows<0>(p, j, int(p.windows - j));
  }

 private:
  static constexpr int kHalfLanes = kLanes / 2;
  using Wide = Vec<int64_t, kHalfLanes, Isa>;

  /// The maxima of windows and the positions of their elements.
  struct Best {
    V value;
    I position;

    HEARTH_SIMD void update(V x, int32_t tap) {
      const auto is_larger = (x > value) | isnan(x);
      value = select(is_larger, x, value);
      position = I((Native<int32_t, kLanes>)(is_larger.v ? I(tap).v : position.v), Raw{});
    }
  };

  /// Computes `count` windows; `known` is kLanes if the count is known to be that, else 0.
  template <int known>
  HEARTH_SIMD static void windows(const PoolMaxWindows& p, int64_t j, int count) {
    const float* const in = p.in + j * p.stride;
    Best best{V(-__builtin_inff()), I(p.positions[0])};
    for (int64_t k = 0; k < p.taps; ++k) {
      const float* const from = in + p.offsets[k];
      if (p.stride == 2 && k + 1 < p.taps && p.offsets[k + 1] == p.offsets[k] + 1) {
        const auto [low, high] = load_two<known>(from, 2 * count);
        best.update(even_lanes(low, high), p.positions[k]);
        ++k;
        best.update(odd_lanes(low, high), p.positions[k]);
      } else {
        best.update(load<known>(from, p.stride, count), p.positions[k]);
      }
    }
    if constexpr (known > 0)
      best.value.store(p.out + j);
    else
      store_windows(best.value, p.out + j, count);
    store_positions(best.position, p.first_position + j * p.position_stride, p.position_stride,
                    p.indices + j, count);
  }

  HEARTH_SIMD static void store_windows(V best, float* out, int count) {
    if (count == kLanes)
      best.store(out);
    else
      best.store_first(out, count);
  }

  HEARTH_SIMD static void store_positions(I positions, int64_t first, int64_t stride, int64_t* to,
                                          int count) {
    Native<int32_t, kHalfLanes> halves[2];
    __builtin_memcpy(halves, &positions.v, sizeof halves);
    Native<int64_t, kHalfLanes> steps;
    for (int i = 0; i < kHalfLanes; ++i) steps[i] = i * stride;
    for (int half = 0; half < 2; ++half) {
      const int begin = half * kHalfLanes, rest = count - begin;
      if (rest <= 0) return;
      const Wide position = Wide(__builtin_convertvector(halves[half], decltype(steps)), Raw{}) +
                            Wide(steps, Raw{}) + Wide(first + begin * stride);
      if (rest >= kHalfLanes)
        position.store(to + begin);
      else
        position.store_first(to + begin, rest);
    }
  }

  struct Two {
    V low, high;
  };
  /// Loads `count` adjacent elements, at most two vectors.
  template <int known>
  HEARTH_SIMD static Two load_two(const float* from, int count) {
    if constexpr (known > 0) return {V::load(from), V::load(from + kLanes)};
    return {load_up_to<0>(from, count < kLanes ? count : kLanes),
            count > kLanes ? load_up_to<0>(from + kLanes, count - kLanes) : V(0.0f)};
  }

  /// Loads one element of each window.
  template <int known>
  HEARTH_SIMD static V load(const float* from, int64_t stride, int count) {
    if (stride == 1) return load_up_to<known>(from, known > 0 ? known : count);
    const Two two = load_two<known>(from, 2 * count - 1);  // up to the last window's element
    return even_lanes(two.low, two.high);
  }
  template <int known>
  HEARTH_SIMD static V load_up_to(const float* from, int count) {
    if (known > 0 || count == kLanes) return V::load(from);
    return V::load_first(from, count);
  }

  HEARTH_SIMD static V even_lanes(V low, V high) { return alternate_lanes<0>(low, high); }
  HEARTH_SIMD static V odd_lanes(V low, V high) { return alternate_lanes<1>(low, high); }

  /// Every second of the lanes of two vectors, from the lane `first` on.
  template <int first>
  HEARTH_SIMD static V alternate_lanes(V low, V high) {
    return alternate_lanes<first>(low, high, std::make_integer_sequence<int, kLanes>());
  }
  template <int first, int... lanes>
  HEARTH_SIMD static V alternate_lanes(V low, V high, std::integer_sequence<int, lanes...>) {
    return {__builtin_shufflevector(low.v, high.v, (2 * lanes + first)...), Raw{}};
  }
};

}  // namespace hearth::cpu
