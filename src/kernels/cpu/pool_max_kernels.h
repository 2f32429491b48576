#pragma once

#include <cstdint>

namespace hearth::cpu {

/// A row of the windows of max pooling, all inside the input. Window j consists of the elements
/// `in[stride * j + offsets[k]]`, whose positions in the volume are
/// `first_position + stride * j + positions[k]`.
struct PoolMaxRow {
  const float* in;
  const int64_t* offsets;
  const int32_t* positions;
  int64_t taps, stride;  // a stride of 1 or 2
  int64_t first_position;
  float* out;
  int64_t* indices;
  int64_t columns;
};

struct PoolMaxTable {
  void (*row)(const PoolMaxRow&);
};

extern const PoolMaxTable pool_max_table_avx2;
extern const PoolMaxTable pool_max_table_avx512;
extern const PoolMaxTable pool_max_table_generic;

}  // namespace hearth::cpu
