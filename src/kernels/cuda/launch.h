#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

/// Starts a kernel on `grid` blocks of kBlock threads.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, const NativeStream& stream, Args&&... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(kBlock);
  config.stream = stream.stream;
  HEARTH_CUDA(cudaLaunchKernelEx(&config, kernel, std::forward<Args>(args)...));
}

/// The number of blocks for a grid-stride loop over items of one block each.
inline unsigned grid_of_blocks(int64_t num_items) {
  return static_cast<unsigned>(std::clamp<int64_t>(num_items, 1, INT32_MAX));
}

}  // namespace hearth::cuda
