#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "seam/ctx.h"

namespace hearth::cuda {

/// The object behind a StreamHandle.
struct NativeStream {
  cudaStream_t stream = nullptr;
  int device = 0;
  int multi_processors = 1;
  FaultSlot* faults = nullptr;  // mapped, page-locked: host and kernels use the same address
};

inline const NativeStream& stream_of(const Ctx& ctx) {
  return *static_cast<const NativeStream*>(ctx.stream());
}

/// Makes a device current, and restores the previous one at the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  int former_ = -1;  // -1: nothing to restore
};

/// The number of threads of a block, and its binary logarithm.
inline constexpr int kBlock = 256;
inline constexpr int kLogBlock = 8;
static_assert(kBlock == 1 << kLogBlock);

/// The number of blocks of kBlock threads for a grid-stride loop over num_items items: at most
/// enough to fill the device several times.
inline unsigned grid_for(int64_t num_items, const NativeStream& stream) {
  constexpr int64_t kBlocksPerProcessor = 32;
  return static_cast<unsigned>(std::clamp((num_items + kBlock - 1) / kBlock, int64_t{1},
                                          stream.multi_processors * kBlocksPerProcessor));
}

}  // namespace hearth::cuda
