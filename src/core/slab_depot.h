#pragma once

#include <cstddef>
#include <mutex>

#include "core/page_cache.h"

namespace hearth::detail {

/// The free blocks of one small size, shared by all threads. They are parts of slabs of
/// PageCache::kSlabBytes each; a slab is released to the page cache when its last block is
/// released.
class SlabDepot {
 public:
  /// Puts up to `count` blocks into `blocks` and returns their number, which is below `count` only
  /// if there is no more memory.
  int take(void** blocks, int count, size_t block_bytes, PageCache& pages) noexcept;
  void release(void* const* blocks, int count, size_t block_bytes, PageCache& pages) noexcept;
  std::mutex& mutex() { return mutex_; }  // for fork handlers

 private:
  struct FreeBlock;
  struct Slab;  // lives at the start of its pages
  void add_slab(void* data) noexcept;
  void link(Slab* slab) noexcept;
  void unlink(Slab* slab) noexcept;

  std::mutex mutex_;
  Slab* available_ = nullptr;  // the slabs with a free block
};

}  // namespace hearth::detail
