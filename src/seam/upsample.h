#pragma once

#include "seam/table.h"
#include "seam/view.h"

#if defined(__CUDACC__)
#define HEARTH_UPSAMPLE_FN __host__ __device__ __forceinline__
#else
#define HEARTH_UPSAMPLE_FN inline
#endif

namespace hearth {

enum class UpsampleMode : int8_t {
  kNearest,
  kNearestExact,
  kLinear,
  kCubic,
  kLinearAntialias,
  kCubicAntialias
};

constexpr bool is_nearest(UpsampleMode mode) { return mode <= UpsampleMode::kNearestExact; }
constexpr bool is_antialias(UpsampleMode mode) { return mode >= UpsampleMode::kLinearAntialias; }

/// The elements of the input that one output reads: tap k is element first + k, clamped to the
/// input, with the weight UpsampleAxis::weight(taps, k).
template <class T>
struct UpsampleTaps {
  int64_t first = 0, count = 1;
  /// With antialiasing: the window's centre; else the output's distance from the tap before it.
  T position = 0;
  T total = 1;  // with antialiasing: the sum of the filter's values
};

/// One dimension of an upsampling. Positions are computed in the type of the weights, T, but those
/// of nearest elements in float, as in PyTorch: rounding decides which element is the nearest.
struct UpsampleAxis {
  int64_t in = 1, out = 1;
  double scale = 0;  // out / in if the caller gave it; not positive: use the sizes
  UpsampleMode mode = UpsampleMode::kNearest;
  bool align_corners = false;

  /// The distance between adjacent outputs, in elements of the input.
  template <class T>
  HEARTH_UPSAMPLE_FN T step() const {
    if (align_corners) return out > 1 ? T(in - 1) / T(out - 1) : T(0);
    return scale > 0 ? T(1 / scale) : T(in) / T(out);
  }

  /// The elements that output i reads.
  template <class T>
  HEARTH_UPSAMPLE_FN UpsampleTaps<T> taps(int64_t i) const {
    switch (mode) {
      case UpsampleMode::kNearest: return {inside(step<float>() * float(i)), 1, T(0), T(1)};
      case UpsampleMode::kNearestExact: return {inside(source<float>(i) + 0.5F), 1, T(0), T(1)};
      case UpsampleMode::kLinear: {
        const T x = source<T>(i);
        const int64_t first = inside(x);
        return {first, 2, fraction(x - T(first)), T(1)};
      }
      case UpsampleMode::kCubic: {
        const T x = align_corners ? step<T>() * T(i) : step<T>() * (T(i) + T(0.5)) - T(0.5);
        const int64_t before = x < 0 ? -1 : inside(x);  // floor(x): x > -1
        return {before - 1, 4, fraction(x - T(before)), T(1)};
      }
      default: return window<T>(i);
    }
  }

  /// The index of tap k in the input.
  template <class T>
  HEARTH_UPSAMPLE_FN int64_t index(const UpsampleTaps<T>& taps, int64_t k) const {
    const int64_t i = taps.first + k;
    return i < 0 ? 0 : i < in ? i : in - 1;
  }

  template <class T>
  HEARTH_UPSAMPLE_FN T weight(const UpsampleTaps<T>& taps, int64_t k) const {
    if (is_nearest(mode)) return T(1);
    if (mode == UpsampleMode::kLinear) return k == 0 ? T(1) - taps.position : taps.position;
    if (mode == UpsampleMode::kCubic) return cubic(taps.position + T(1 - k), T(-0.75));
    return filter(taps, k) / taps.total;
  }

  /// An upper bound of taps().count.
  template <class T>
  HEARTH_UPSAMPLE_FN int64_t max_taps() const {
    if (is_nearest(mode)) return 1;
    if (!is_antialias(mode)) return mode == UpsampleMode::kLinear ? 2 : 4;
    const T width = 2 * support<T>() + 2;
    return width < T(in) ? int64_t(width) : in;
  }

 private:
  /// The position of an output in the input, not before its first element.
  template <class T>
  HEARTH_UPSAMPLE_FN T source(int64_t i) const {
    if (align_corners) return step<T>() * T(i);
    const T x = step<T>() * (T(i) + T(0.5)) - T(0.5);
    return x > 0 ? x : T(0);
  }
  /// floor(x) for x >= 0, at most in - 1; also for infinities and NaN.
  template <class T>
  HEARTH_UPSAMPLE_FN int64_t inside(T x) const {
    return x < T(in - 1) ? int64_t(x) : in - 1;
  }
  template <class T>
  HEARTH_UPSAMPLE_FN static T fraction(T x) {
    return x > 0 ? (x < 1 ? x : T(1)) : T(0);
  }
  /// The kernel of cubic convolution.
  template <class T>
  HEARTH_UPSAMPLE_FN static T cubic(T x, T a) {
    if (x < 0) x = -x;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : T(0);
  }
  /// Half the width of an antialiasing window.
  template <class T>
  HEARTH_UPSAMPLE_FN T support() const {
    const T half = mode == UpsampleMode::kLinearAntialias ? T(1) : T(2);
    return step<T>() >= 1 ? half * step<T>() : half;
  }
  /// The value of the antialiasing filter at tap k, not yet divided by taps.total.
  template <class T>
  HEARTH_UPSAMPLE_FN T filter(const UpsampleTaps<T>& taps, int64_t k) const {
    const T inverse = step<T>() >= 1 ? 1 / step<T>() : T(1);
    const T x = (T(k + taps.first) - taps.position + T(0.5)) * inverse;
    if (mode == UpsampleMode::kCubicAntialias) return cubic(x, T(-0.5));
    const T distance = x < 0 ? -x : x;
    return distance < 1 ? 1 - distance : T(0);
  }
  /// taps() with antialiasing.
  template <class T>
  HEARTH_UPSAMPLE_FN UpsampleTaps<T> window(int64_t i) const {
    const T center = step<T>() * (T(i) + T(0.5)), half = support<T>();
    const T low = center - half + T(0.5), high = center + half + T(0.5);
    UpsampleTaps<T> taps;
    taps.first = low > 0 ? (low < T(in) ? int64_t(low) : in) : 0;
    taps.count = (high < T(in) ? int64_t(high) : in) - taps.first;
    taps.position = center;
    T total = 0;
    for (int64_t k = 0; k < taps.count; ++k) total += filter(taps, k);
    if (total != 0) taps.total = total;
    return taps;
  }
};

/// out = in, interpolated along the last `dims` dimensions (1 to 3) of [batch, channels, size…],
/// or, if `transposed`, the transpose of this linear map: then `in` is the gradient of an output,
/// whose sizes are the axes' `out`, and `out` is the gradient of the input. Axes are in the order
/// of dimensions. Every element of out is written. Dtypes: floating ones and, if not transposed,
/// uint8 for nearest modes in all dimensions and for other modes in two, where the weights are
/// rounded to 16 bits, as in PyTorch.
struct UpsampleParams {
  View in, out;
  int dims = 1;
  UpsampleAxis axes[3];
  bool transposed = false;
};

}  // namespace hearth
