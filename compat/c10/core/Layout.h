#pragma once

#include "c10/core/Backend.h"

namespace c10 {
inline Layout layout_from_backend(Backend backend) {
  TORCH_CHECK(std::string_view(toString(backend)).substr(0, 9) != "SparseCsr",
              "Cannot map Backend SparseCsr(CPU|CUDA|HIP|VE|XPU|MPS) to a unique layout.");
  if (backend == Backend::MkldnnCPU) return Layout::Mkldnn;
  return isSparse(backend) ? Layout::Sparse : Layout::Strided;
}
}  // namespace c10

namespace at {
using c10::layout_from_backend;
}  // namespace at
