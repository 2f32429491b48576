#pragma once

#include "c10/namespaces.h"
#include "hearth/cuda.h"

// hearth::cuda::memory_stats() has the statistics.
namespace hearth::cuda::CUDACachingAllocator {

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
