#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The loops of row norms over n contiguous elements of one type. x is the input, g the gradient of
/// the output. The weight w and the bias b are one value each (all n elements are of one channel)
/// or n values (each element is a channel of its own: `per_element`).
struct RowNormLoops {
  /// With d = x - shift: sums[0] += d, sums[1] += d * d.
  using Moments = void (*)(const void* x, int64_t n, double shift, double* sums);
  /// y = (x - mean) * rstd * w + b.
  using Normalize = void (*)(const void* x, void* y, int64_t n, double mean, double rstd,
                             const void* w, const void* b);
  /// sums[0] += g * w, sums[1] += g * w * (x - mean).
  using Dots = void (*)(const void* g, const void* x, int64_t n, double mean, const void* w,
                        double* sums);
  /// The coefficients of Gradient, which depend on the row.
  struct Line {
    double mean, gain, slope, offset;
  };
  /// Writes the gradient of x: d = g * w * gain + (x - mean) * slope + offset.
  using Gradient = void (*)(const void* g, const void* x, void* d, int64_t n, const Line& line,
                            const void* w);
  /// Per element: weight_sums += g * (x - mean) * rstd, bias_sums += g.
  using Columns = void (*)(const void* g, const void* x, int64_t n, double mean, double rstd,
                           double* weight_sums, double* bias_sums);
  Moments moments;
  Normalize normalize[2];  // [per_element]
  Dots dots[2];            // [per_element]
  Gradient gradient[2];    // [per_element]
  Columns columns;
};

struct RowNormTable {
  RowNormLoops f32, f64;
};

extern const RowNormTable row_norm_table_avx2;
extern const RowNormTable row_norm_table_avx512;
extern const RowNormTable row_norm_table_generic;

}  // namespace hearth::cpu
