#pragma once

// The inner loop of max pooling, for one instruction set: a vector holds adjacent windows, whose
// stride is 1 or 2. Loads limit the speed. Included only by pool_max_@target@.cpp.in.

#include "kernels/cpu/pool_max_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class Isa>
struct PoolMaxLoops {
  using V = FullVec<float, Isa>;
  using I = typename V::Int;
  static constexpr int kLanes = V::kLanes;

  static void row(const PoolMaxRow& row) {
    int64_t j = 0;
    // With stride 2, a whole vector loads one element after its last window. The last vector of a
    // row must not, so it is not a whole one here.
    for (; j + kLanes < row.columns; j += kLanes) windows<kLanes>(row, j, kLanes);
    windows<0>(row, j, int(row.columns - j));
  }

 private:
  /// Computes `count` windows; `known` is the count if it is a whole vector, else 0.
  template <int known>
  HEARTH_SIMD static void windows(const PoolMaxRow& row, int64_t j, int count) {
    const float* const in = row.in + j * row.stride;
    V best = load<known>(in + row.offsets[0], row.stride, count);
    I tap(row.positions[0]);
    for (int64_t k = 1; k < row.taps; ++k) {
      const V x = load<known>(in + row.offsets[k], row.stride, count);
      const auto is_larger = (x > best) | isnan(x);
      best = select(is_larger, x, best);
      tap = I((Native<int32_t, kLanes>)(is_larger.v ? I(row.positions[k]).v : tap.v), Raw{});
    }
    const int64_t first = row.first_position + j * row.stride;
    if constexpr (known > 0)
      best.store(row.out + j);
    else
      store_windows(best, row.out + j, count);
    int32_t positions[kLanes];
    tap.store(positions);
    for (int i = 0; i < (known > 0 ? known : count); ++i)
      row.indices[j + i] = first + i * row.stride + positions[i];
  }

  HEARTH_SIMD static void store_windows(V best, float* out, int count) {
    if (count == kLanes)
      best.store(out);
    else
      best.store_first(out, count);
  }

  /// Loads one element of each window.
  template <int known>
  HEARTH_SIMD static V load(const float* from, int64_t stride, int count) {
    if (stride == 1) return load_up_to<known>(from, known > 0 ? known : count);
    const int elements = 2 * count - 1;  // up to the last window's
    if constexpr (known > 0) return even_lanes(V::load(from), V::load(from + kLanes));
    const V low = load_up_to<0>(from, elements < kLanes ? elements : kLanes);
    const V high = elements > kLanes ? load_up_to<0>(from + kLanes, elements - kLanes) : V(0.0f);
    return even_lanes(low, high);
  }
  template <int known>
  HEARTH_SIMD static V load_up_to(const float* from, int count) {
    if (known > 0 || count == kLanes) return V::load(from);
    return V::load_first(from, count);
  }

  HEARTH_SIMD static V even_lanes(V low, V high) {
    if constexpr (kLanes == 16)
      return {__builtin_shufflevector(low.v, high.v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
                                      26, 28, 30),
              Raw{}};
    else if constexpr (kLanes == 8)
      return {__builtin_shufflevector(low.v, high.v, 0, 2, 4, 6, 8, 10, 12, 14), Raw{}};
    else
      return {__builtin_shufflevector(low.v, high.v, 0, 2, 4, 6), Raw{}};
  }
};

}  // namespace hearth::cpu
