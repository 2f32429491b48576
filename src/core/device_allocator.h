#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "core/event_queue.h"
#include "hearth/export.h"
#include "hearth/memory_stats.h"
#include "seam/backend.h"

namespace hearth {

/// Memory of one device, got from it in segments and kept for reuse. A block that was freed serves
/// the same stream again at once, because work on a stream runs in order.
class DeviceAllocator {
 public:
  DeviceAllocator(Backend& backend, int device);
  /// Gives everything back to the device, blocks still in use as well.
  ~DeviceAllocator();
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;

  /// At least 512-byte aligned, null for 0 bytes; OutOfMemoryError when neither cache nor device
  /// has it.
  void* allocate(size_t bytes, StreamHandle stream);
  /// `stream` is one that may still use the memory; it counts as recorded.
  void free(void* data, StreamHandle stream);
  /// Keeps the memory, once freed, until the work that is then in `stream` has run. Memory of
  /// others is ignored.
  void record_stream(void* data, StreamHandle stream);
  /// Gives segments that nobody uses back to the device.
  void empty_cache();

  MemoryStats stats();
  /// What tensors hold, or streams may still use; without a lock.
  size_t active_bytes() const { return active_bytes_.load(std::memory_order_relaxed); }
  void reset_peak();

 private:
  struct Block;
  struct Less {
    bool operator()(const Block* a, const Block* b) const;
  };
  using Pool = std::set<Block*, Less>;  // free blocks by stream, size, address

  Pool& pool_of(const Block& block);
  Block* take_cached(size_t size, StreamHandle stream);
  Block* new_segment(size_t size, StreamHandle stream, size_t bytes);
  Block* take_after_release(size_t size, StreamHandle stream);
  void split(Block* block, size_t size);
  void give_back(Block* block);
  void wait_for_uses(Block* block) noexcept;
  void absorb(Block* block, Block* neighbour);
  void release_segments(Pool& pool);
  void collect_freed();
  void drain_freed();
  [[noreturn]] void throw_out_of_memory(size_t bytes);

  Backend& backend_;
  const int device_;
  std::mutex mutex_;
  Pool small_, large_;
  std::unordered_map<void*, Block*> in_use_;
  std::unique_ptr<EventQueue<Block>> events_;
  MemoryStats stats_;
  std::atomic<size_t> active_bytes_{0};
};

/// The process's allocator of a device that exists; `device` is a CUDA device, index -1 the current
/// one.
DeviceAllocator& device_allocator(Device device);

/// The same for those who only allocate and free, among them the CUDA plugin.
HEARTH_API void* device_allocate(Device device, size_t bytes, StreamHandle stream);
HEARTH_API void device_free(Device device, void* data, StreamHandle stream);
void device_record_stream(void* data, Device device, StreamHandle stream);

}  // namespace hearth
