#include "core/page_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "core/system_memory.h"

namespace hearth::detail {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMaxDefaultLimit = size_t{4} << 30;
/// The number of bytes mapped between two checks of the system's free memory.
constexpr size_t kCheckEvery = size_t{64} << 20;
/// The cache is emptied if less than the system's memory divided by this number would stay free.
constexpr size_t kFreeMarginDivisor = 32;

size_t alignment_of(size_t bytes) {
  if (bytes == PageCache::kSlabBytes) return bytes;
  return bytes >= kHugePage ? kHugePage : kPage;
}

void* map_pages(size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

void unmap(void* data, size_t bytes) {
  // If the hole would exceed the system's limit of mappings, only the pages are returned.
  if (bytes > 0 && munmap(data, bytes) != 0) madvise(data, bytes, MADV_DONTNEED);
}

void* map_aligned(size_t bytes, size_t alignment) {
  if (alignment == kPage) return map_pages(bytes);
  char* data = static_cast<char*>(map_pages(bytes + alignment));
  if (!data) return nullptr;
  const size_t leading = (alignment - reinterpret_cast<uintptr_t>(data) % alignment) % alignment;
  unmap(data, leading);
  unmap(data + leading + bytes, alignment - leading);
  return data + leading;
}

void add(MemoryStat& stat, int64_t amount) {
  stat.current += amount;
  (amount > 0 ? stat.allocated : stat.freed) += std::abs(amount);
  stat.peak = std::max(stat.peak, stat.current);
}

}  // namespace

/// A cached block: an element of the stack of its size, and of the list of all blocks by age.
struct PageCache::Block {
  size_t bytes;
  Block* above;  // in the stack
  Block* below;
  Block* newer;
  Block* older;
};

size_t PageCache::rounded(size_t bytes) {
  const size_t step = std::bit_ceil(bytes) / (2 * kSizesPerDoubling);
  return (bytes + step - 1) & ~(step - 1);
}

int PageCache::bin_of(size_t rounded_bytes) {
  const size_t doubling = std::bit_ceil(rounded_bytes);
  const size_t step = doubling / (2 * kSizesPerDoubling);
  const int step_index = static_cast<int>((rounded_bytes - doubling / 2) / step) - 1;
  return (std::countr_zero(doubling) - std::countr_zero(2 * kSmallest)) * kSizesPerDoubling +
         step_index;
}

bool PageCache::reserve(size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const size_t reserved = static_cast<size_t>(reserved_.current);
  if (reserved > memory_limit_ || bytes > memory_limit_ - reserved) return false;
  add(reserved_, static_cast<int64_t>(bytes));
  add(segments_, 1);
  ++thread_regions;
  return true;
}

void PageCache::unreserve(size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  add(reserved_, -static_cast<int64_t>(bytes));
  add(segments_, -1);
}

void* PageCache::take(size_t bytes) noexcept {
  bytes = rounded(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (Block* block = bins_[bin_of(bytes)]) {
      unlink(block);
      return block;
    }
  }
  if (!reserve(bytes)) return nullptr;
  void* data = map(bytes);
  if (!data) unreserve(bytes);
  return data;
}

void* PageCache::map(size_t bytes) noexcept {
  make_room(bytes);
  void* data = map_aligned(bytes, alignment_of(bytes));
  if (data && bytes >= kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

/// Empties the cache if free memory is short, because the system maps more memory than it has and
/// later kills the process.
void PageCache::make_room(size_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    mapped_since_check_ += bytes;
    if (mapped_since_check_ < kCheckEvery || cached_ == 0) return;
    mapped_since_check_ = 0;
  }
  const size_t margin = system_memory_total() / kFreeMarginDivisor;
  if (system_memory_available() < bytes + margin) trim(0);
}

void PageCache::release(void* data, size_t bytes) noexcept {
  bytes = rounded(bytes);
  size_t limit;
  {
    const std::lock_guard lock(mutex_);
    limit = cache_limit();
    if (bytes <= limit) {
      static_cast<Block*>(data)->bytes = bytes;
      link(static_cast<Block*>(data));
      if (cached_ <= limit) return;
    }
  }
  if (bytes <= limit) {
    trim(limit);
  } else {
    unmap(data, bytes);
    unreserve(bytes);
  }
}

void PageCache::link(Block* block) noexcept {
  Block*& top = bins_[bin_of(block->bytes)];
  block->above = nullptr;
  block->below = top;
  if (top) top->above = block;
  top = block;

  block->newer = nullptr;
  block->older = newest_;
  (newest_ ? newest_->newer : oldest_) = block;
  newest_ = block;
  cached_ += block->bytes;
}

void PageCache::unlink(Block* block) noexcept {
  (block->above ? block->above->below : bins_[bin_of(block->bytes)]) = block->below;
  if (block->below) block->below->above = block->above;
  (block->newer ? block->newer->older : newest_) = block->older;
  (block->older ? block->older->newer : oldest_) = block->newer;
  cached_ -= block->bytes;
}

PageCache::Block* PageCache::pop_oldest(size_t keep) noexcept {
  const std::lock_guard lock(mutex_);
  Block* block = oldest_;
  if (!block || cached_ <= keep) return nullptr;
  unlink(block);
  return block;
}

void PageCache::trim(size_t keep) noexcept {
  while (Block* block = pop_oldest(keep)) {
    const size_t bytes = block->bytes;
    unmap(block, bytes);
    unreserve(bytes);
  }
}

size_t PageCache::cache_limit() noexcept {
  if (!cache_limit_) cache_limit_ = std::min(system_memory_total() / 4, kMaxDefaultLimit);
  return *cache_limit_;
}

void PageCache::set_cache_limit(size_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    cache_limit_ = bytes;
  }
  trim(bytes);
}

void PageCache::set_memory_limit(size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  memory_limit_ = bytes;
}

void PageCache::add_to(MemoryStats& stats) {
  const std::lock_guard lock(mutex_);
  stats.segment = segments_;
  stats.reserved_bytes = reserved_;
}

void PageCache::reset_peak() {
  const std::lock_guard lock(mutex_);
  segments_.peak = segments_.current;
  reserved_.peak = reserved_.current;
}

}  // namespace hearth::detail
