#pragma once

#include <cstdint>

#include "hearth/export.h"

namespace hearth {

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
  MemoryStat active_bytes;        ///< the same plus freed blocks that a stream still uses
  MemoryStat segment;             ///< number of regions allocated from the system or device
  MemoryStat reserved_bytes;      ///< bytes of these regions, in use or cached
  int64_t cache_hits = 0;         ///< allocations served from the cache
  int64_t num_alloc_retries = 0;  ///< times the cache was emptied because memory ran out
  int64_t num_ooms = 0;           ///< out-of-memory errors

  int64_t cached_bytes() const { return reserved_bytes.current - allocated_bytes.current; }
};

/// Releases the CPU allocator's cached memory to the system, except a few small blocks that other
/// threads cached; cuda::empty_cache() does so for GPUs. The cache holds at most a quarter of the
/// system's memory and at most 4 GiB.
HEARTH_API void empty_cpu_cache();

}  // namespace hearth
