#pragma once

#include <cstdint>

#include "hearth/export.h"

namespace hearth {

/// One quantity over time, as torch.cuda.memory_stats reports it.
struct MemoryStat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;  // everything that was ever added
  int64_t freed = 0;      // everything that was ever taken away

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
  MemoryStat allocation;          // number of blocks in use
  MemoryStat allocated_bytes;     // bytes of the blocks in use, rounded up as they are handed out
  MemoryStat active_bytes;        // the same, and freed blocks that a stream still uses
  MemoryStat segment;             // number of regions got from the system or device
  MemoryStat reserved_bytes;      // bytes of those, in use or cached
  int64_t cache_hits = 0;         // allocations for which system or device was not asked
  int64_t num_alloc_retries = 0;  // times the cache was emptied because there was no more
  int64_t num_ooms = 0;

  int64_t cached_bytes() const { return reserved_bytes.current - allocated_bytes.current; }
};

/// Gives the free memory that the CPU's caches keep back to the system, but for a few small blocks
/// of other threads; cuda::empty_cache() does so for devices. The caches keep at most a quarter of
/// the memory and at most 4 GiB.
HEARTH_API void empty_cpu_cache();

}  // namespace hearth
