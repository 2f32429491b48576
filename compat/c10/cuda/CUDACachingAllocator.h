#pragma once

#include <array>
#include <cstdint>

#include "c10/namespaces.h"
#include "hearth/cuda.h"

namespace c10::CachingAllocator {

using Stat = hearth::MemoryStat;
enum struct StatType : uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };
/// Hearth has no pools by size, so only AGGREGATE has values.
using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;

}  // namespace c10::CachingAllocator

namespace c10::CachingDeviceAllocator {

/// The statistics of one device's allocator.
struct DeviceStats {
  CachingAllocator::StatArray allocation, segment, allocated_bytes, active_bytes, reserved_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
};

}  // namespace c10::CachingDeviceAllocator

namespace hearth::cuda::CUDACachingAllocator {

using namespace c10::CachingAllocator;
using namespace c10::CachingDeviceAllocator;

inline DeviceStats getDeviceStats(DeviceIndex device) {
  const MemoryStats stats = memory_stats(device);
  DeviceStats result;
  result.allocation[0] = stats.allocation;
  result.segment[0] = stats.segment;
  result.allocated_bytes[0] = stats.allocated_bytes;
  result.active_bytes[0] = stats.active_bytes;
  result.reserved_bytes[0] = stats.reserved_bytes;
  result.num_alloc_retries = stats.num_alloc_retries;
  result.num_ooms = stats.num_ooms;
  return result;
}

/// Releases cached memory that no tensor uses.
inline void emptyCache() { empty_cache(); }
/// Sets the peaks of a device's memory statistics to the current values.
inline void resetPeakStats(DeviceIndex device) { reset_peak_memory_stats(device); }
/// Limits the memory reserved on a device to this part of its total memory.
inline void setMemoryFraction(double fraction, DeviceIndex device) {
  set_per_process_memory_fraction(fraction, device);
}
inline double getMemoryFraction(DeviceIndex device) {
  return get_per_process_memory_fraction(device);
}

}  // namespace hearth::cuda::CUDACachingAllocator
