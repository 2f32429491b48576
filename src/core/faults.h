#pragma once

#include <atomic>

#include "seam/ctx.h"

namespace hearth {

/// Throws what a kernel left in the slot, in PyTorch's words, and empties the slot.
[[noreturn]] void throw_fault(FaultSlot& slot);

/// Throws if a kernel left a fault in the slot; for after a synchronisation.
inline void check_fault(FaultSlot& slot) {
  if (std::atomic_ref<int32_t>(slot.fault).load(std::memory_order_acquire) > 0) [[unlikely]]
    throw_fault(slot);
}

/// After a launch: throws what the kernel found if it has already run, that is, on the CPU.
inline void check_faults(Ctx& ctx) {
  if (ctx.device().is_cpu()) check_fault(*ctx.faults());
}

}  // namespace hearth
