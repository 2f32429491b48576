#pragma once

#include <cmath>

#include "seam/table.h"
#include "seam/view.h"

#if defined(__CUDACC__)
#define HEARTH_GRID_FN __host__ __device__ __forceinline__
#else
#define HEARTH_GRID_FN inline
#endif

namespace hearth {

enum class GridMode : int8_t { kLinear, kNearest, kCubic };
enum class GridPadding : int8_t { kZeros, kBorder, kReflection };

/// The elements along one dimension that a coordinate of the grid reads: their indices (-1:
/// outside), their weights, and the derivatives of the weights with respect to the coordinate.
template <class T>
struct GridTaps {
  int64_t index[4];
  T weight[4], slope[4];
};

/// The mapping from the grid's coordinates, -1 and 1 at the ends of the input, to its elements.
struct GridRule {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;

  HEARTH_GRID_FN int taps() const {
    return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4;
  }

  /// Finds the elements that a coordinate reads in a dimension of this size.
  template <class T>
  HEARTH_GRID_FN GridTaps<T> find(T coordinate, int64_t size) const {
    const T half_extent = T(align_corners ? size - 1 : size) / 2;
    const T position =
        align_corners ? (coordinate + 1) * half_extent : (coordinate + 1) * half_extent - T(0.5);
    T slope = 1;
    const T x = mode == GridMode::kCubic ? position : padded(position, size, slope);
    GridTaps<T> taps;
    if (mode == GridMode::kNearest) {
      taps.index[0] = index_or_outside(std::nearbyint(x), size);
      taps.weight[0] = 1;
      taps.slope[0] = 0;
    } else if (mode == GridMode::kLinear) {
      const T lower = std::floor(x);
      for (int k = 0; k < 2; ++k) {
        taps.index[k] = index_or_outside(lower + T(k), size);
        taps.weight[k] = k == 0 ? lower + 1 - x : x - lower;
        taps.slope[k] = k == 0 ? -slope * half_extent : slope * half_extent;
      }
    } else {
      const T lower = std::floor(x);
      for (int k = 0; k < 4; ++k) {
        T unused;
        taps.index[k] = index_or_outside(padded(lower + T(k - 1), size, unused), size);
        set_cubic(taps, k, x - lower, half_extent);
      }
    }
    return taps;
  }

 private:
  /// x as an index, or -1 if it is outside [0, size).
  template <class T>
  HEARTH_GRID_FN static int64_t index_or_outside(T x, int64_t size) {
    return x > -1 && x < T(size) ? int64_t(x) : -1;
  }
  /// Returns the position after padding, and its derivative in `slope`. NaN becomes 0 unless
  /// padding is kZeros.
  template <class T>
  HEARTH_GRID_FN T padded(T x, int64_t size, T& slope) const {
    slope = 1;
    if (padding == GridPadding::kZeros) return x;
    if (padding == GridPadding::kReflection)
      x = align_corners ? reflected(x, T(0), T(size - 1), slope)
                        : reflected(x, T(-0.5), T(size), slope);
    const T last = T(size - 1);
    if (x > 0 && x < last) return x;
    slope = 0;
    return x > 0 ? last : T(0);
  }
  /// x, reflected at `low` and at low + span.
  template <class T>
  HEARTH_GRID_FN static T reflected(T x, T low, T span, T& slope) {
    slope = 0;
    if (span == 0) return 0;
    const T slope_of_distance = x < low ? T(-1) : T(1);
    const T distance = (x - low) * slope_of_distance;
    const T rest = std::fmod(distance, span), flips = std::floor(distance / span);
    const bool even = std::fmod(flips, T(2)) == 0;
    slope = even ? slope_of_distance : -slope_of_distance;
    return even ? rest + low : span - rest + low;
  }
  /// Sets tap k of cubic convolution with a = -0.75, for the position at the distance t
  /// after tap 1.
  template <class T>
  HEARTH_GRID_FN static void set_cubic(GridTaps<T>& taps, int k, T t, T half_extent) {
    constexpr T a = T(-0.75);
    const T x = k < 2 ? t + T(1 - k) : T(k - 1) - t;  // the distance to the tap
    const T slope_of_x = k < 2 ? half_extent : -half_extent;
    const bool near = k == 1 || k == 2;
    taps.weight[k] =
        near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    taps.slope[k] = slope_of_x *
                    (near ? (3 * (a + 2) * x - 2 * (a + 3)) * x : (3 * a * x - 10 * a) * x + 8 * a);
  }
};

/// out[n, c, p] = the value of in[n, c] at the position grid[n, p], for images (dims 2) and volumes
/// (dims 3). Views are [N, C, (D,) H, W]; the grid is [N, (D,) H, W, dims], x first. All have one
/// floating dtype.
struct GridSamplerParams {
  View in, grid, out;
  GridRule rule;
  int dims = 2;
};

/// The gradients of `in` and `grid`; undefined ones are not computed. The others are written
/// completely.
struct GridSamplerBackwardParams {
  View grad_out, in, grid, grad_in, grad_grid;
  GridRule rule;
  int dims = 2;
};

}  // namespace hearth
