#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The inner loops of upsampling on contiguous elements of one type.
struct UpsampleLoops {
  /// to[i] = sum over k of weights[k] * rows[k][i], for i < n.
  using Combine = void (*)(const void* const* rows, const void* weights, int64_t taps, void* to,
                           int64_t n);
  /// to[i] = sum over k of weights[k * n + i] * row[index[k * n + i]], for i < n.
  using Gather = void (*)(const void* row, const int32_t* index, const void* weights, int64_t taps,
                          void* to, int64_t n);
  /// x[i] = floor(x[i] * factor + 0.5), clamped to [0, 255].
  using Quantise = void (*)(void* x, int64_t n, double factor);
  Combine combine;
  Gather gather;
  Quantise quantise;
};

struct UpsampleLoopTable {
  UpsampleLoops f32, f64;
};

extern const UpsampleLoopTable upsample_table_avx2;
extern const UpsampleLoopTable upsample_table_avx512;
extern const UpsampleLoopTable upsample_table_generic;

}  // namespace hearth::cpu
