#pragma once

// The inner loops of 2-d grid sampling for one instruction set. find() computes the indices and
// weights of a tile of positions, one in each lane; sample() adds 1 or 4 weighted elements for each
// position. Bound by the loads of sample(), one element at a time. Included only by
// grid_sampler_@target@.cpp.in.

#include "kernels/cpu/grid_sampler_kernels.h"
#include "kernels/cpu/math.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct GridLoopsOf {
  static constexpr int kFull = Isa::kBytes / int(sizeof(T));
  static_assert(kGridTile % kFull == 0);
  using V = Vec<T, kFull, Isa>;
  using M = typename V::M;

  /// The taps of positions along one dimension: coordinates, which are whole numbers, and weights.
  struct Taps {
    V coordinate[2], weight[2];
    M inside[2];
  };

  HEARTH_SIMD static V reflected(V x, V low, T span) {
    if (span == 0) return V(0);
    const V distance = abs(x - low), rest = fmod(distance, V(span));
    const M even = fmod(floor(distance / V(span)), V(2)) == V(0);
    return select(even, rest + low, V(span) - rest + low);
  }
  HEARTH_SIMD static V padded(V x, T size, GridPadding padding, bool align_corners) {
    if (padding == GridPadding::kZeros) return x;
    if (padding == GridPadding::kReflection)
      x = align_corners ? reflected(x, V(0), size - 1) : reflected(x, V(T(-0.5)), size);
    const V last = V(size - 1);
    return select(x > V(0), select(x < last, x, last), V(0));
  }
  HEARTH_SIMD static Taps taps_of(V grid, T size, GridMode mode, GridPadding padding,
                                  bool align_corners) {
    const T unit = (align_corners ? size - 1 : size) / 2;
    const V x = padded((grid + V(1)) * V(unit) - V(align_corners ? T(0) : T(0.5)), size, padding,
                       align_corners);
    const bool nearest = mode == GridMode::kNearest;
    Taps taps;
    taps.coordinate[0] = nearest ? round(x) : floor(x);
    taps.coordinate[1] = taps.coordinate[0] + V(1);
    taps.weight[0] = nearest ? V(1) : taps.coordinate[1] - x;
    taps.weight[1] = x - taps.coordinate[0];
    for (int k = 0; k < 2; ++k) {
      taps.inside[k] = (taps.coordinate[k] > V(-1)) & (taps.coordinate[k] < V(size));
      taps.coordinate[k] = select(taps.inside[k], taps.coordinate[k], V(0));
    }
    return taps;
  }
  HEARTH_SIMD static Native<int32_t, kFull> to_int32(V x) {
    return __builtin_convertvector(x.v, Native<int32_t, kFull>);
  }

  static void find(const void* x_data, const void* y_data, int64_t n, const GridRule& rule,
                   const GridPlane& plane, void* tile_data) {
    GridTile<T>& tile = *static_cast<GridTile<T>*>(tile_data);
    const int taps_per_dim = rule.mode == GridMode::kNearest ? 1 : 2;
    const int32_t row = int32_t(plane.row_stride), column = int32_t(plane.column_stride);
    for (int64_t i = 0; i < n; i += kFull) {
      const Taps x = taps_of(V::load(static_cast<const T*>(x_data) + i), T(plane.width), rule.mode,
                             rule.padding, rule.align_corners);
      const Taps y = taps_of(V::load(static_cast<const T*>(y_data) + i), T(plane.height), rule.mode,
                             rule.padding, rule.align_corners);
      for (int b = 0; b < taps_per_dim; ++b)
        for (int a = 0; a < taps_per_dim; ++a) {
          const int64_t offset = (b * taps_per_dim + a) * kGridTile + i;
          // Arithmetic makes the index -1 outside; select() cannot, because masks have lanes of
          // T's size.
          const V outside = select(x.inside[a] & y.inside[b], V(0), V(1));
          const auto out = to_int32(outside);
          const auto index =
              (to_int32(y.coordinate[b]) * row + to_int32(x.coordinate[a]) * column) * (1 - out) -
              out;
          __builtin_memcpy(tile.index + offset, &index, sizeof index);
          (x.weight[a] * y.weight[b]).store(tile.weight + offset);
        }
    }
  }

  /// Returns plane[index[l]] in each lane l; 0 where the index is negative.
  HEARTH_SIMD static V picked(const T* plane, const int32_t* index) {
    V x, outside;
    for (int l = 0; l < kFull; ++l) {
      const int32_t mask = index[l] >> 31;
      x.v[l] = plane[index[l] & ~mask];
      outside.v[l] = T(mask);
    }
    return select(outside < V(0), V(0), x);
  }
  template <int kTaps>
  HEARTH_SIMD static void sample_taps(const T* plane, const GridTile<T>& tile, T* to, int64_t n) {
    for (int64_t i = 0; i < n; i += kFull) {
      V sum = V::load(tile.weight + i) * picked(plane, tile.index + i);
      for (int k = 1; k < kTaps; ++k) {
        const int64_t offset = k * kGridTile + i;
        sum = mul_add(V::load(tile.weight + offset), picked(plane, tile.index + offset), sum);
      }
      if (i + kFull <= n)
        sum.store(to + i);
      else
        sum.store_first(to + i, int(n - i));
    }
  }
  static void sample(const void* plane, const void* tile, int64_t taps, void* to, int64_t n) {
    const T* const values = static_cast<const T*>(plane);
    const GridTile<T>& found = *static_cast<const GridTile<T>*>(tile);
    if (taps == 4) return sample_taps<4>(values, found, static_cast<T*>(to), n);
    sample_taps<1>(values, found, static_cast<T*>(to), n);
  }

  static constexpr GridLoops loops{find, sample};
};

template <class Isa>
inline constexpr GridLoopTable grid_sampler_table_of{GridLoopsOf<float, Isa>::loops,
                                                     GridLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
