#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "hearth/memory_stats.h"

namespace hearth::detail {

/// The number of regions that this thread has reserved.
inline constinit thread_local int64_t thread_regions = 0;

/// Blocks of whole pages from the system. Released blocks are cached, with their pages mapped, for
/// the next request of the same size. Above a limit, the blocks cached longest return to the
/// system; when the system is short of memory, all do.
class PageCache {
 public:
  static constexpr size_t kSmallest = 32 * 1024;  // requests are larger
  static constexpr size_t kLargest = size_t{1} << 47;
  /// Blocks of exactly this size are aligned to it, so that the address of an object in a block
  /// gives the start of the block.
  static constexpr size_t kSlabBytes = 256 * 1024;

  /// Rounds a request up to a block size. There are eight sizes per doubling, so at most an eighth
  /// is added.
  static size_t rounded(size_t bytes);

  /// Returns a block of rounded(bytes) bytes; null if neither cache nor system has one.
  void* take(size_t bytes) noexcept;
  /// Puts a block of rounded(bytes) bytes into the cache, or returns it to the system.
  void release(void* data, size_t bytes) noexcept;

  /// Counts bytes as reserved; returns false if that would exceed the memory limit.
  bool reserve(size_t bytes) noexcept;
  void unreserve(size_t bytes) noexcept;

  /// Returns the oldest cached blocks to the system until at most `keep` bytes are cached.
  void trim(size_t keep) noexcept;
  /// Sets the maximum number of cached bytes; by default a quarter of the memory, at most 4 GiB.
  void set_cache_limit(size_t bytes) noexcept;
  /// Sets the maximum number of reserved bytes, cached blocks included.
  void set_memory_limit(size_t bytes) noexcept;
  size_t memory_limit() const { return memory_limit_; }

  void add_to(MemoryStats& stats);
  void reset_peak();
  std::mutex& mutex() { return mutex_; }  // for fork handlers

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

  std::mutex mutex_;
  Block* bins_[kBins] = {};
  Block* newest_ = nullptr;
  Block* oldest_ = nullptr;
  size_t cached_ = 0;
  std::optional<size_t> cache_limit_;  // cache_limit() sets the default
  std::atomic<size_t> memory_limit_{SIZE_MAX};
  size_t mapped_since_check_ = 0;
  MemoryStat segments_;
  MemoryStat reserved_;
};

}  // namespace hearth::detail
