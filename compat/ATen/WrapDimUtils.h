#pragma once

#include "ATen/core/Tensor.h"
#include "c10/core/WrapDimMinimal.h"

namespace at {
using c10::maybe_wrap_dim;
inline int64_t maybe_wrap_dim(int64_t dim, const Tensor& tensor) {
  return maybe_wrap_dim(dim, tensor.dim());
}
}  // namespace at
