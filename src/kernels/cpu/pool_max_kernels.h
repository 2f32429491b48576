#pragma once

#include <cstdint>

namespace hearth::cpu {

/// Windows of max pooling, all inside the input: of one row or, in channels_last, one window of
/// all channels. Window j consists of the elements `in[stride * j + offsets[k]]`, whose positions
/// in the volume are `first_position + position_stride * j + positions[k]`.
struct PoolMaxWindows {
  const float* in;
  const int64_t* offsets;
  const int32_t* positions;
  int64_t taps, stride;  // a stride of 1 or 2
  int64_t first_position, position_stride;
  float* out;
  int64_t* indices;
  int64_t windows;
};

struct PoolMaxTable {
  void (*maxima)(const PoolMaxWindows&);
};

extern const PoolMaxTable pool_max_table_avx2;
extern const PoolMaxTable pool_max_table_avx512;
extern const PoolMaxTable pool_max_table_generic;

}  // namespace hearth::cpu
