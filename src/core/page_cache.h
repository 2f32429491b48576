#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "hearth/memory_stats.h"

namespace hearth::detail {

/// Blocks of whole pages from the system. Those given back are kept, with their pages warm, for the
/// next request of the same size, up to a limit; beyond it, or when the system runs short, the ones
/// unused for longest return to the system.
class PageCache {
 public:
  static constexpr size_t kSmallest = 32 * 1024;  // requests are larger
  static constexpr size_t kLargest = size_t{1} << 47;
  /// Blocks of exactly this size are aligned to it, so that what lies in them can find their start.
  static constexpr size_t kSlabBytes = 256 * 1024;

  /// What is handed out for a request: eight sizes per doubling, so at most an eighth more.
  static size_t rounded(size_t bytes);

  /// A block of rounded(bytes) bytes; null if neither cache nor system has one.
  void* take(size_t bytes) noexcept;
  void give(void* data, size_t bytes) noexcept;

  /// Counts bytes as reserved; false if that would exceed the memory limit.
  bool reserve(size_t bytes) noexcept;
  void unreserve(size_t bytes) noexcept;

  /// Returns the oldest cached blocks to the system until at most `keep` bytes are cached.
  void trim(size_t keep) noexcept;
  /// How much may be cached; at first a quarter of the memory, but at most 4 GiB.
  void set_cache_limit(size_t bytes) noexcept;
  /// How much may be reserved in all, cached blocks included.
  void set_memory_limit(size_t bytes) noexcept;
  size_t memory_limit() const { return memory_limit_; }

  void add_to(MemoryStats& stats);
  void reset_peak();
  std::mutex& mutex() { return mutex_; }  // for fork

 private:
  struct Block;  // lives at the start of a cached block
  static constexpr int kSizesPerDoubling = 8;
  static constexpr int kBins = 32 * kSizesPerDoubling;
  static int bin_of(size_t rounded_bytes);

  void* map(size_t bytes) noexcept;
  void make_room(size_t bytes) noexcept;
  void link(Block* block) noexcept;
  void unlink(Block* block) noexcept;
  Block* pop_oldest(size_t keep) noexcept;
  size_t cache_limit() noexcept;

  static constexpr size_t kDefaultLimit = SIZE_MAX;
  std::mutex mutex_;
  Block* bins_[kBins] = {};
  Block* newest_ = nullptr;
  Block* oldest_ = nullptr;
  size_t cached_ = 0;
  size_t cache_limit_ = kDefaultLimit;
  size_t memory_limit_ = SIZE_MAX;
  size_t mapped_since_check_ = 0;
  MemoryStat segments_;
  MemoryStat reserved_;
};

}  // namespace hearth::detail
