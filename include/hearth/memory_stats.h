#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hearth/device.h"
#include "hearth/export.h"

namespace hearth {

class Tensor;

/// The purpose of a block of memory (docs/adr/0009-memory-tags.md).
enum class MemoryTag : uint8_t {
  Other,           ///< allocated outside modules and without history: inputs, for example
  Parameter,       ///< a parameter or buffer of a module
  Gradient,        ///< allocated by backward
  OptimizerState,  ///< allocated by an optimizer's step
  Activation,      ///< allocated by a module's forward(), or with history
  Workspace,       ///< scratch memory of kernels
};
inline constexpr size_t kNumMemoryTags = 6;

/// One statistic of an allocator, as torch.cuda.memory_stats reports it.
struct MemoryStat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;  ///< the sum of all increases
  int64_t freed = 0;      ///< the sum of all decreases

  void increase(int64_t amount) {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void decrease(int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void reset_peak() { peak = current; }
};

/// The statistics of one memory allocator.
struct MemoryStats {
  MemoryStat allocation;          ///< number of blocks in use
  MemoryStat allocated_bytes;     ///< bytes of the blocks in use, rounded up to block sizes
  MemoryStat active_bytes;        ///< allocated_bytes and freed blocks that a stream still uses
  MemoryStat segment;             ///< number of regions allocated from the system or device
  MemoryStat reserved_bytes;      ///< bytes of these regions, in use or cached
  int64_t cache_hits = 0;         ///< allocations served from the cache
  int64_t num_alloc_retries = 0;  ///< times the cache was emptied because memory ran out
  int64_t num_ooms = 0;           ///< out-of-memory errors
  /// allocated_bytes of each tag, by the tag's number. On the CPU, blocks up to 32 KiB are counted
  /// late: for each thread, a tag's peak may be too low by 2 MiB.
  MemoryStat tags[kNumMemoryTags];
  /// The bytes of each tag when allocated_bytes had its peak, as exact as the tags' peaks.
  int64_t at_peak[kNumMemoryTags] = {};

  const MemoryStat& of(MemoryTag tag) const { return tags[static_cast<size_t>(tag)]; }
  int64_t cached_bytes() const { return reserved_bytes.current - allocated_bytes.current; }
};

HEARTH_API const char* as_text(MemoryTag tag);  ///< such as "optimizer state"

/// Sets the tag of the memory that this thread allocates during the guard's lifetime. Modules,
/// backward and optimizers set theirs themselves.
class HEARTH_API MemoryTagGuard {
 public:
  explicit MemoryTagGuard(MemoryTag tag);
  ~MemoryTagGuard();
  MemoryTagGuard(const MemoryTagGuard&) = delete;
  MemoryTagGuard& operator=(const MemoryTagGuard&) = delete;

 private:
  MemoryTag former_;
};

/// Changes the tag of the tensor's memory; an undefined tensor is ignored.
HEARTH_API void set_memory_tag(const Tensor& tensor, MemoryTag tag);
HEARTH_API MemoryTag memory_tag(const Tensor& tensor);  ///< the tag of the tensor's memory

/// The statistics of the CPU's allocator or, for a CUDA device, cuda::memory_stats().
HEARTH_API MemoryStats memory_stats(Device device);
/// The table of torch.cuda.memory_summary(), with rows for the tags and for the activations of
/// modules; `abbreviated` leaves out all rows but those of allocated memory and the tags.
HEARTH_API std::string memory_summary(Device device, bool abbreviated = false);
/// Sets the peaks to the current values.
HEARTH_API void reset_peak_memory_stats(Device device);
/// The bytes available to new tensors on the device, within its limit: the free memory and the
/// allocator's cache.
HEARTH_API size_t available_memory(Device device);

/// Drops the former recording and, if `enabled`, starts to record the memory of each tag over time,
/// on the CPU and on all GPUs. If the memory of a device changes more than `max_entries` times,
/// neighbouring entries are merged into the one with the most bytes.
HEARTH_API void record_memory_history(bool enabled = true, size_t max_entries = 20000);
/// The recording as JSON, for `hearth plot-memory`: for each device, entries of the seconds since
/// the start and the bytes of each tag.
HEARTH_API std::string memory_snapshot();

/// Releases the CPU allocator's cached memory to the system, except a few small blocks that other
/// threads cached; cuda::empty_cache() does so for GPUs. The cache holds at most a quarter of the
/// system's memory and at most 4 GiB.
HEARTH_API void empty_cpu_cache();

}  // namespace hearth
