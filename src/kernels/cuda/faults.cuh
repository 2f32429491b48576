#pragma once

#include "seam/ctx.h"

namespace hearth::cuda {

/// Stores a fault in the stream's slot unless it holds one already. The host reads the slot after
/// a synchronisation.
__device__ inline void report(FaultSlot* slot, Fault new_fault, int64_t a = 0, int64_t b = 0,
                              int64_t c = 0) {
  if (atomicCAS(&slot->fault, 0, -1) != 0) return;
  volatile FaultSlot* out = slot;
  out->values[0] = a;
  out->values[1] = b;
  out->values[2] = c;
  __threadfence_system();
  out->fault = static_cast<int32_t>(new_fault);
}

}  // namespace hearth::cuda
