#pragma once

#include <atomic>

#include "seam/ctx.h"

namespace hearth {

/// Clears the slot and throws its fault as an error with PyTorch's text.
[[noreturn]] void throw_fault(FaultSlot& slot);

/// Throws if a kernel has reported a fault; called after a synchronisation and, on the CPU, after
/// each launch.
inline void check_fault(FaultSlot& slot) {
  if (std::atomic_ref<int32_t>(slot.fault).load(std::memory_order_acquire) > 0) [[unlikely]]
    throw_fault(slot);
}

}  // namespace hearth
