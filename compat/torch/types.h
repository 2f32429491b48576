#pragma once

#include "ATen/ATen.h"
#include "torch/library.h"

namespace torch {
inline constexpr Dtype kU8 = kUInt8;
inline constexpr Dtype kI8 = kInt8;
inline constexpr Dtype kI16 = kInt16;
inline constexpr Dtype kI32 = kInt32;
inline constexpr Dtype kI64 = kInt64;
inline constexpr Dtype kF16 = kFloat16;
inline constexpr Dtype kF32 = kFloat32;
inline constexpr Dtype kF64 = kFloat64;
}  // namespace torch
