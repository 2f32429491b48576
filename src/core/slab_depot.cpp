#include "core/slab_depot.h"

#include <cstdint>

#include "core/size_classes.h"

namespace hearth::detail {

struct SlabDepot::FreeBlock {
  FreeBlock* next;
};

struct SlabDepot::Slab {
  Slab* previous;
  Slab* next;
  FreeBlock* free;       // released blocks
  size_t unused_offset;  // offset of the first block that was never used
  size_t num_in_use;

  static Slab* of(void* block) {
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) &
                                   ~(PageCache::kSlabBytes - 1));
  }

  bool is_exhausted(size_t block_bytes) const {
    return !free && unused_offset + block_bytes > PageCache::kSlabBytes;
  }

  void* pop(size_t block_bytes) {
    ++num_in_use;
    if (FreeBlock* block = free) {
      free = block->next;
      return block;
    }
    void* block = reinterpret_cast<char*>(this) + unused_offset;
    unused_offset += block_bytes;
    return block;
  }

  void push(void* data) {
    FreeBlock* block = static_cast<FreeBlock*>(data);
    block->next = free;
    free = block;
    --num_in_use;
  }
};

void SlabDepot::add_slab(void* data) noexcept {
  static_assert(sizeof(Slab) <= kBlockAlignment);
  Slab* slab = static_cast<Slab*>(data);
  *slab = Slab{};
  slab->unused_offset = kBlockAlignment;
  link(slab);
}

void SlabDepot::link(Slab* slab) noexcept {
  slab->previous = nullptr;
  slab->next = available_;
  if (available_) available_->previous = slab;
  available_ = slab;
}

void SlabDepot::unlink(Slab* slab) noexcept {
  (slab->previous ? slab->previous->next : available_) = slab->next;
  if (slab->next) slab->next->previous = slab->previous;
}

int SlabDepot::take(void** blocks, int count, size_t block_bytes, PageCache& pages) noexcept {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < count; ++i) {
    if (!available_) {
      void* data = pages.take(PageCache::kSlabBytes);
      if (!data) return i;
      add_slab(data);
    }
    blocks[i] = available_->pop(block_bytes);
    if (available_->is_exhausted(block_bytes)) unlink(available_);
  }
  return count;
}

void SlabDepot::release(void* const* blocks, int count, size_t block_bytes,
                        PageCache& pages) noexcept {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < count; ++i) {
    Slab* slab = Slab::of(blocks[i]);
    const bool was_exhausted = slab->is_exhausted(block_bytes);
    slab->push(blocks[i]);
    if (was_exhausted) link(slab);
    if (slab->num_in_use > 0) continue;
    unlink(slab);
    pages.release(slab, PageCache::kSlabBytes);
  }
}

}  // namespace hearth::detail
