#pragma once

#include <array>
#include <cstdint>

#include "c10/namespaces.h"
#include "hearth/memory_stats.h"

namespace c10::CachingAllocator {

using Stat = hearth::MemoryStat;
/// Hearth counts all blocks together: AGGREGATE.
enum struct StatType : uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };
using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;

}  // namespace c10::CachingAllocator

namespace c10::CachingDeviceAllocator {

using namespace c10::CachingAllocator;

/// The statistics of a GPU's memory.
struct DeviceStats {
  StatArray allocation, segment, active;
  StatArray allocated_bytes, reserved_bytes, active_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
};

}  // namespace c10::CachingDeviceAllocator
