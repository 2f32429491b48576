#pragma once

#include "c10/util/SmallVector.h"

namespace c10 {
constexpr size_t kDimVectorStaticSize = 5;
/// A short list of sizes, strides or dimensions.
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;
}  // namespace c10

namespace at {
using c10::DimVector;
using c10::kDimVectorStaticSize;
}  // namespace at
