#pragma once

#include <cstdint>

#include "hearth/dtype.h"

namespace hearth::cpu {

/// The maximum number of rows of one call; the row numbers fit into a byte.
inline constexpr int64_t kMinMaxRows = 64;

/// For each of `width` columns: the best element of `rows` rows, `stride` elements apart, and its
/// row number, an integer as wide as the elements.
using MinMaxRowsFn = void (*)(const void* data, int64_t stride, int64_t rows, int64_t width,
                              void* values, void* best_rows);

/// The loops for float, double, int64 and bool; the best element is the smallest or the largest.
struct MinMaxTable {
  MinMaxRowsFn rows[kScalarTypeSlots][2] = {};  // [dtype][largest]
};

extern const MinMaxTable minmax_dim_table_avx2;
extern const MinMaxTable minmax_dim_table_avx512;
extern const MinMaxTable minmax_dim_table_generic;

}  // namespace hearth::cpu
