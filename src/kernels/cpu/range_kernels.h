#pragma once

#include <cstdint>

namespace hearth::cpu {

/// out[k] = step * (first + k * direction) + start for k below `count`, by a fused multiply-add.
template <class Compute>
struct LinearPart {
  Compute step, start;
  int64_t first, direction, count;
};

/// The positions of a LinearPart must be below this number.
inline constexpr int64_t kMaxPosition = int64_t{1} << 31;

struct RangeTable {
  void (*floats)(float* to, const LinearPart<float>& part);
  void (*floats_of_doubles)(float* to, const LinearPart<double>& part);
  void (*doubles)(double* to, const LinearPart<double>& part);
};

extern const RangeTable range_table_avx2;
extern const RangeTable range_table_avx512;
extern const RangeTable range_table_generic;

}  // namespace hearth::cpu
