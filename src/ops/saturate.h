#pragma once

#include <algorithm>

#include "hearth/dtype.h"
#include "hearth/scalar.h"

namespace hearth {

/// The largest finite number of a floating dtype; for other dtypes, of float32.
inline double largest_number(ScalarType type) {
  switch (type) {
    case kHalf: return 65504;
    case kBFloat16: return 0x1.fep127;
    case kDouble: return __DBL_MAX__;
    default: return __FLT_MAX__;
  }
}

/// The smallest and the largest integer of a dtype.
struct IntegerRange {
  int64_t smallest = INT64_MIN, largest = INT64_MAX;

  explicit IntegerRange(ScalarType type) {
    if (type == kLong) return;
    const int bits = int(8 * element_size(type)) - (type != kByte);
    largest = (int64_t(1) << bits) - 1;
    smallest = type == kByte ? 0 : -largest - 1;
  }
  /// The nearest integer of the dtype.
  int64_t nearest(int64_t number) const { return std::min(std::max(number, smallest), largest); }
};

}  // namespace hearth
