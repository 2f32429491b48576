#pragma once

#include <cstdint>

#include "seam/grid_sampler.h"

namespace hearth::cpu {

/// The number of positions whose taps are found at once.
inline constexpr int64_t kGridTile = 64;

/// The taps of a tile of positions in linear and nearest sampling: tap k of position i is at
/// k * kGridTile + i. Elements outside the plane have index -1 and the value 0.
template <class T>
struct GridTile {
  alignas(64) int32_t index[4 * kGridTile];
  alignas(64) T weight[4 * kGridTile];
};

/// The sizes and strides of a plane.
struct GridPlane {
  int64_t width, height, column_stride, row_stride;
};

/// The loops of 2-d sampling for one type.
struct GridLoops {
  /// Fills a GridTile for n positions.
  using Find = void (*)(const void* x, const void* y, int64_t n, const GridRule& rule,
                        const GridPlane& plane, void* tile);
  /// to[i] = the weighted sum of position i's elements of a plane.
  using Sample = void (*)(const void* plane, const void* tile, int64_t taps, void* to, int64_t n);
  Find find;
  Sample sample;
};

struct GridLoopTable {
  GridLoops f32, f64;
};

extern const GridLoopTable grid_sampler_table_avx2;
extern const GridLoopTable grid_sampler_table_avx512;
extern const GridLoopTable grid_sampler_table_generic;

}  // namespace hearth::cpu
