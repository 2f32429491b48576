#pragma once

#include "ops/call.h"

namespace hearth {

/// Throws the error of a fault that a kernel of the CPU reported during the call.
[[noreturn]] void throw_fault_of(const OpCall& call, FaultSlot& slot);

}  // namespace hearth
