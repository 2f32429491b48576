#pragma once

#include <string>

#include "hearth/device.h"
#include "hearth/memory_stats.h"

namespace hearth {

/// During its lifetime, counts the memory that the meta tensors created by this thread would take
/// on another device. Scratch memory of kernels is not counted.
class HEARTH_API MetaMemory {
 public:
  explicit MetaMemory(Device like);  ///< that device: the CPU or a CUDA device
  ~MetaMemory();
  MetaMemory(const MetaMemory&) = delete;
  MetaMemory& operator=(const MetaMemory&) = delete;

  const MemoryStats& stats() const;                     ///< allocation, allocated_bytes and tags
  std::string summary(bool abbreviated = false) const;  ///< as memory_summary()

  struct Counts;

 private:
  Counts* counts_;
  Counts* former_;
};

}  // namespace hearth
