#pragma once

#include <cstdio>
#include <map>
#include <mutex>

#include "ATen/Context.h"
#include "c10/cuda/CUDAFunctions.h"

namespace hearth::cuda {

inline int64_t getNumGPUs() { return device_count(); }

/// A GPU's properties with the names of CUDA's cudaDeviceProp.
struct CUDADeviceProp {
  char name[256] = {};
  size_t totalGlobalMem = 0, sharedMemPerBlock = 0, sharedMemPerMultiprocessor = 0;
  int major = 0, minor = 0, multiProcessorCount = 0, warpSize = 0;
  int regsPerMultiprocessor = 0, regsPerBlock = 65536, l2CacheSize = 0;
  int maxThreadsPerBlock = 0, maxThreadsPerMultiProcessor = 0;
  int maxThreadsDim[3] = {1024, 1024, 64};          // of all GPUs that Hearth supports
  int maxGridSize[3] = {2147483647, 65535, 65535};  // the same
};

namespace detail {

template <class Prop>
Prop device_prop(const DeviceProperties& properties) {
  Prop prop{};
  const CUDADeviceProp limits;
  std::snprintf(prop.name, sizeof prop.name, "%s", properties.name.c_str());
  prop.totalGlobalMem = properties.total_memory;
  prop.sharedMemPerBlock = properties.shared_memory_per_block;
  prop.sharedMemPerMultiprocessor = properties.shared_memory_per_multiprocessor;
  prop.major = properties.major;
  prop.minor = properties.minor;
  prop.multiProcessorCount = properties.multi_processor_count;
  prop.warpSize = properties.warp_size;
  prop.regsPerMultiprocessor = properties.regs_per_multiprocessor;
  prop.regsPerBlock = limits.regsPerBlock;
  prop.l2CacheSize = static_cast<int>(properties.L2_cache_size);
  prop.maxThreadsPerBlock = properties.max_threads_per_block;
  prop.maxThreadsPerMultiProcessor = properties.max_threads_per_multi_processor;
  for (int i = 0; i < 3; ++i) {
    prop.maxThreadsDim[i] = limits.maxThreadsDim[i];
    prop.maxGridSize[i] = limits.maxGridSize[i];
  }
  return prop;
}

/// The properties of a device, kept until the process ends.
template <class Prop>
Prop* kept_device_prop(int device) {
  static auto& mutex = *new std::mutex;
  static auto& kept = *new std::map<int, Prop>;
  const std::lock_guard lock(mutex);
  const auto found = kept.find(device);
  if (found != kept.end()) return &found->second;
  return &(kept[device] = device_prop<Prop>(get_device_properties(device)));
}

#ifdef CUDART_VERSION  // of the CUDA runtime's header
using NativeProp = cudaDeviceProp;
#else
using NativeProp = CUDADeviceProp;
#endif

}  // namespace detail

/// The properties of a GPU: a cudaDeviceProp in sources that include the CUDA runtime's header
/// first, as nvcc does.
template <class Prop = detail::NativeProp>
Prop* getDeviceProperties(DeviceIndex device) {
  return detail::kept_device_prop<Prop>(device);
}
template <class Prop = detail::NativeProp>
Prop* getCurrentDeviceProperties() {
  return detail::kept_device_prop<Prop>(current_device());
}
inline int warp_size() { return get_device_properties().warp_size; }
inline bool canDeviceAccessPeer(DeviceIndex device, DeviceIndex peer_device) {
  return can_device_access_peer(device, peer_device);
}

}  // namespace hearth::cuda
