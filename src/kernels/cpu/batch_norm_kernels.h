#pragma once

#include <cstdint>

namespace hearth::cpu {

/// Per-channel coefficients of y = (x - center) * slope + offset + g * gain, in the type of x; gain
/// is only used where there is a g.
struct BatchNormLine {
  const void* center;
  const void* slope;
  const void* offset;
  const void* gain;
};

/// The loops of batch norm over rows of `width` contiguous elements, `stride` apart, in one type.
/// What is per channel has one value for each column, or one for all of them.
struct BatchNormLoops {
  /// With d = x - shift: sums += g, dots += g * d; without g (null) d takes its place. Both in
  /// double, per column in any case.
  using Accumulate = void (*)(const void* x, const void* g, int64_t stride, int64_t rows,
                              int64_t width, const double* shift, double* sums, double* dots);
  /// Computes the line for every element.
  using Apply = void (*)(const void* x, const void* g, void* y, int64_t stride, int64_t rows,
                         int64_t width, const BatchNormLine& line);
  Accumulate accumulate[2][2];  // [a channel per column][with g]
  Apply apply[2][2];
};

struct BatchNormTable {
  BatchNormLoops f32, f64;
};

extern const BatchNormTable batch_norm_table_avx2;
extern const BatchNormTable batch_norm_table_avx512;
extern const BatchNormTable batch_norm_table_generic;

}  // namespace hearth::cpu
