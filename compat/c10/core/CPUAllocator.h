#pragma once

#include "c10/core/Allocator.h"

namespace at {
inline Allocator* getCPUAllocator() { return GetCPUAllocator(); }
}  // namespace at
