#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The loops of embedding_bag over rows of one type.
struct BagLoops {
  /// out = factor * the sum of n rows of `width` elements, each times its scale if there are
  /// scales.
  using SumRows = void (*)(const void* const* rows, const void* scales, int64_t n, int64_t width,
                           void* out, double factor);
  /// out = factor * the sum of the table's rows at n indices; `stride` is in bytes. `num_next` more
  /// indices follow, whose rows may be prefetched.
  using SumAtIndices = void (*)(const void* table, int64_t stride, const int64_t* indices,
                                int64_t n, int64_t num_next, int64_t width, void* out,
                                double factor);
  /// y += factor * x.
  using Add = void (*)(const void* x, void* y, int64_t n, double factor);
  /// The sum of x * y.
  using Dot = double (*)(const void* x, const void* y, int64_t n);
  SumRows sum_rows;
  SumAtIndices sum_at_indices;
  Add add;
  Dot dot;
};

struct BagTable {
  BagLoops f32, f64;
};

extern const BagTable bag_table_avx2;
extern const BagTable bag_table_avx512;
extern const BagTable bag_table_generic;

}  // namespace hearth::cpu
