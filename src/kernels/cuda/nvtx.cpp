#include "kernels/cuda/nvtx.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HEARTH_HAS_NVTX 1
#endif

namespace hearth::cuda {

#ifdef HEARTH_HAS_NVTX

const RangeMarker* nvtx_marker() {
  static constexpr RangeMarker marker{
      [](const char* name) { return nvtxRangePushA(name); },
      [] { return nvtxRangePop(); },
      [](const char* name) { nvtxMarkA(name); },
      [](const char* name) -> uint64_t { return nvtxRangeStartA(name); },
      [](uint64_t range) { nvtxRangeEnd(range); },
  };
  return &marker;
}

#else

const RangeMarker* nvtx_marker() { return nullptr; }

#endif

}  // namespace hearth::cuda
