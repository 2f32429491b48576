#pragma once

#include <cstdint>

namespace hearth::cpu {

/// Per-channel coefficients of y = (x - center) * slope + offset + g * gain, in the type of x. g is
/// the gradient of the output; without g, gain is not used.
struct BatchNormLine {
  const void* center;
  const void* slope;
  const void* offset;
  const void* gain;
};

/// The loops of batch norm over rows of `width` contiguous elements, `stride` apart, in one type.
/// Per-channel arrays have one value per column, or a single one for all columns.
struct BatchNormLoops {
  /// With d = x - shift: sums += g, dots += g * d, where d replaces a missing g (null). sums and
  /// dots always have one value per column.
  using Accumulate = void (*)(const void* x, const void* g, int64_t stride, int64_t rows,
                              int64_t width, const double* shift, double* sums, double* dots);
  /// Computes y for every element.
  using Apply = void (*)(const void* x, const void* g, void* y, int64_t stride, int64_t rows,
                         int64_t width, const BatchNormLine& line);
  Accumulate accumulate[2][2];  // [one channel per column][with g]
  Apply apply[2][2];
};

struct BatchNormTable {
  BatchNormLoops f32, f64;
};

extern const BatchNormTable batch_norm_table_avx2;
extern const BatchNormTable batch_norm_table_avx512;
extern const BatchNormTable batch_norm_table_generic;

}  // namespace hearth::cpu
