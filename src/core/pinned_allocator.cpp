#include "core/pinned_allocator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "core/backends.h"
#include "core/device_allocator.h"
#include "core/device_context.h"
#include "core/event_queue.h"
#include "core/graph_capture.h"

namespace hearth {

namespace {

constexpr size_t kMinBlock = 512;
constexpr size_t kLargestRequest = SIZE_MAX / 4;

class PinnedAllocator {
 public:
  explicit PinnedAllocator(Backend& backend) : backend_(backend), events_(backend) {}

  void* allocate(size_t bytes);
  void free(void* data);
  void record(const void* data, int device, StreamHandle stream);
  bool contains(const void* data);
  void empty_cache();
  MemoryStats stats();

 private:
  struct Block {
    std::byte* data;
    size_t size;  // a power of two
    int pending_events = 0;
    std::vector<std::pair<int, StreamHandle>> streams;  // recorded, with their devices
  };

  Block* take(size_t size);
  Block* find(const void* data);
  void collect();
  void release_cached();
  void wait_for_streams(Block* block) noexcept;
  void cache(Block* block) { free_[index_of(block->size)].push_back(block); }
  static size_t index_of(size_t size) { return static_cast<size_t>(std::countr_zero(size)); }

  Backend& backend_;
  std::mutex mutex_;
  std::map<const std::byte*, Block*> in_use_;
  std::array<std::vector<Block*>, 64> free_;  // by the base-2 logarithm of their size
  EventQueue<Block> events_;
  MemoryStats stats_;
};

void* PinnedAllocator::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  collect();
  Block* block = nullptr;
  if (bytes <= kLargestRequest) {
    const size_t size = std::bit_ceil(std::max(bytes, kMinBlock));
    block = take(size);
    if (!block) {
      ++stats_.num_alloc_retries;
      release_cached();
      block = take(size);
    }
  }
  if (!block) {
    ++stats_.num_ooms;
    detail::fail<OutOfMemoryError>(
        "Out of pinned host memory. Tried to allocate ", format_bytes(bytes), ". Hearth holds ",
        format_bytes(static_cast<size_t>(stats_.reserved_bytes.current)), " of it.");
  }
  in_use_[block->data] = block;
  stats_.allocation.increase(1);
  stats_.allocated_bytes.increase(static_cast<int64_t>(block->size));
  stats_.active_bytes.increase(static_cast<int64_t>(block->size));
  return block->data;
}

PinnedAllocator::Block* PinnedAllocator::take(size_t size) {
  auto& cached = free_[index_of(size)];
  if (!cached.empty()) {
    Block* const block = cached.back();
    cached.pop_back();
    ++stats_.cache_hits;
    return block;
  }
  auto* const data = static_cast<std::byte*>(backend_.allocate_pinned(size));
  if (!data) return nullptr;
  stats_.segment.increase(1);
  stats_.reserved_bytes.increase(static_cast<int64_t>(size));
  return new Block{data, size, 0, {}};
}

void PinnedAllocator::free(void* data) {
  if (!data) return;
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(static_cast<std::byte*>(data));
  HEARTH_CHECK(found != in_use_.end(), "invalid pinned pointer");
  Block* const block = found->second;
  in_use_.erase(found);
  stats_.allocation.decrease(1);
  stats_.allocated_bytes.decrease(static_cast<int64_t>(block->size));
  if (!block->streams.empty()) return wait_for_streams(block);
  stats_.active_bytes.decrease(static_cast<int64_t>(block->size));
  cache(block);
}

/// Makes the block wait for its recorded streams. If the device has failed, the end of their work
/// is unknown, and the block is never reused. During a capture, no event can tell either.
void PinnedAllocator::wait_for_streams(Block* block) noexcept {
  try {
    if (any_capture())
      ++block->pending_events;
    else
      for (const auto& [device, stream] : block->streams) events_.add(block, device, stream);
  } catch (const std::exception&) {
    ++block->pending_events;
  }
  block->streams.clear();
}

PinnedAllocator::Block* PinnedAllocator::find(const void* data) {
  const auto* const address = static_cast<const std::byte*>(data);
  const auto after = in_use_.upper_bound(address);
  if (after == in_use_.begin()) return nullptr;
  Block* const block = std::prev(after)->second;
  return address < block->data + block->size ? block : nullptr;
}

void PinnedAllocator::record(const void* data, int device, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  Block* const block = find(data);
  if (!block) return;
  // Each replay of a graph copies from or to the block again, so it is never reused.
  if (is_capturing(Device(DeviceType::CUDA, DeviceIndex(device)))) ++block->pending_events;
  const std::pair recorded(device, stream);
  if (std::ranges::find(block->streams, recorded) == block->streams.end())
    block->streams.push_back(recorded);
}

bool PinnedAllocator::contains(const void* data) {
  const std::lock_guard lock(mutex_);
  return find(data) != nullptr;
}

void PinnedAllocator::collect() {
  if (any_capture()) return;  // a capture forbids to query events
  events_.collect([this](Block* block) {
    stats_.active_bytes.decrease(static_cast<int64_t>(block->size));
    cache(block);
  });
}

void PinnedAllocator::release_cached() {
  for (auto& cached : free_) {
    for (Block* block : cached) {
      backend_.free_pinned(block->data);
      stats_.segment.decrease(1);
      stats_.reserved_bytes.decrease(static_cast<int64_t>(block->size));
      delete block;
    }
    cached.clear();
  }
}

void PinnedAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  collect();
  release_cached();
}

MemoryStats PinnedAllocator::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

/// Never destroyed, because static objects may own tensors.
PinnedAllocator& allocator() {
  static PinnedAllocator& result = *new PinnedAllocator(require_cuda());
  return result;
}

}  // namespace

void* pinned_allocate(size_t bytes) { return allocator().allocate(bytes); }
void pinned_free(void* data) { allocator().free(data); }
void pinned_record(void* data, Device device, StreamHandle stream) {
  allocator().record(data, cuda_index(device), stream);
}
bool is_pinned(const void* data) { return cuda_backend() && allocator().contains(data); }
void pinned_empty_cache() { allocator().empty_cache(); }
MemoryStats pinned_memory_stats() { return allocator().stats(); }

}  // namespace hearth
