#pragma once

#include "c10/core/CachingDeviceAllocator.h"
#include "c10/cuda/CUDAStream.h"
#include "hearth/operators.h"
#include "hearth/storage.h"

namespace hearth::cuda::CUDACachingAllocator {

using namespace c10::CachingAllocator;
using namespace c10::CachingDeviceAllocator;

/// Memory of the current device for work on its current stream.
inline void* raw_alloc(size_t bytes) { return caching_allocator_alloc(bytes); }
inline void raw_delete(void* data) { caching_allocator_delete(data); }
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
/// hearth::cuda::memory_stats() has more.
inline DeviceStats getDeviceStats(DeviceIndex device) {
  const MemoryStats stats = memory_stats(device);
  DeviceStats result;
  result.allocation[0] = stats.allocation;
  result.segment[0] = stats.segment;
  result.allocated_bytes[0] = stats.allocated_bytes;
  result.reserved_bytes[0] = stats.reserved_bytes;
  result.active_bytes[0] = stats.active_bytes;
  result.num_alloc_retries = stats.num_alloc_retries;
  result.num_ooms = stats.num_ooms;
  return result;
}
/// Tensor::record_stream() for memory of a tensor.
inline void recordStream(const DataPtr& memory, const CUDAStream& stream) {
  if (!memory) return;
  from_blob(memory.get(), {1}, TensorOptions(kByte).device(memory.device())).record_stream(stream);
}

}  // namespace hearth::cuda::CUDACachingAllocator
