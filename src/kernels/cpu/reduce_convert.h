#pragma once

#include <cstdint>

#include "kernels/cpu/pointwise_table.h"

namespace hearth::cpu {

/// Converts n elements between two dtypes and strides (in elements).
class StridedConvert {
 public:
  StridedConvert(ScalarType from, ScalarType to);
  void operator()(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                  int64_t n) const;

 private:
  const Conversion convert_;  // not used between equal types
  const int64_t from_size_, to_size_;
};

}  // namespace hearth::cpu
