#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/event_queue.h"
#include "core/memory_history.h"
#include "core/memory_label.h"
#include "hearth/export.h"
#include "hearth/memory_stats.h"
#include "seam/backend.h"

namespace hearth {

struct MemoryReport;
using GraphPoolId = std::pair<unsigned long long, unsigned long long>;

/// Memory of one device, allocated from it in segments and cached for reuse. A freed block can be
/// reused at once on the same stream, because work on a stream runs in order.
class DeviceAllocator {
 public:
  DeviceAllocator(Backend& backend, int device);
  /// Returns all memory to the device, including blocks still in use.
  ~DeviceAllocator();
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;

  /// Allocates a block for use on `stream`, at least 512-byte aligned; null for 0 bytes. Throws
  /// OutOfMemoryError if neither cache nor device has enough memory.
  void* allocate(size_t bytes, StreamHandle stream, MemoryLabel label = {});
  /// Frees a block that `stream` may still use: it is reused as after record_stream(data, stream).
  void free(void* data, StreamHandle stream);
  /// Frees a block on the stream for which it was allocated.
  void free(void* data);
  /// Delays the reuse of the block, once it is freed, until the work then in `stream` has finished.
  /// Ignores memory that is not from this allocator.
  void record_stream(void* data, StreamHandle stream);
  /// Counts the block under another label.
  void retag(void* data, MemoryLabel label);
  /// Records the bytes of the tags from now on; null ends the recording.
  void record(std::unique_ptr<MemoryHistory> history);
  /// The recording as JSON; empty if there is none.
  std::string history_json();
  /// From now on, streams that are captured get blocks of a pool of their own: graphs use their
  /// memory again in each replay. Several graphs may share a pool; each has to release it.
  void begin_capture(GraphPoolId pool);
  void end_capture();
  /// If no other graph uses the pool, its free memory can be returned to the device.
  void release_pool(GraphPoolId pool);
  /// Limits the reserved bytes; the device's own limit remains.
  void set_limit(size_t bytes);
  size_t limit();
  /// Returns unused segments to the device.
  void empty_cache();

  MemoryStats stats();
  /// The state for memory_summary(), and for the error of a failed allocation of `wanted` bytes.
  MemoryReport report(size_t wanted = 0);
  /// The bytes that tensors hold or streams may still use; does not lock.
  size_t active_bytes() const { return active_bytes_.load(std::memory_order_relaxed); }
  void reset_peak();

 private:
  struct Block;
  struct Less {
    bool operator()(const Block* a, const Block* b) const;
  };
  using Pool = std::set<Block*, Less>;  // free blocks by stream, size, address
  struct Pools {
    Pool small, large;
    int num_graphs = 0;  // that use the memory
  };
  struct Request {
    size_t size;
    StreamHandle stream;
    Pools* pools;
  };

  static Pool& pool_of(const Block& block);
  Block* take_cached(const Request& request);
  Block* new_segment(const Request& request, size_t segment_bytes);
  Block* take_after_release(const Request& request);
  void split(Block* block, size_t size);
  void count(const Block& block, int64_t bytes);
  MemoryReport locked_report(size_t wanted);
  void release_block(Block* block);
  void wait_for_streams(Block* block) noexcept;
  void absorb(Block* block, Block* neighbour);
  void free_locked(Block* block, StreamHandle stream);
  Block* block_in_use(void* data);
  void release_segments(Pool& pool);
  void release_all_segments();
  void collect_freed();  ///< releases the freed blocks that no stream uses any more
  void drain_freed();    ///< waits until no stream uses freed blocks, and releases them
  [[noreturn]] void throw_out_of_memory(size_t bytes);

  Backend& backend_;
  const int device_;
  std::mutex mutex_;
  Pools pools_;
  std::map<GraphPoolId, Pools> graph_pools_;
  Pools* capture_pools_ = nullptr;             // during a capture
  std::vector<Block*> freed_while_capturing_;  // whose streams have to be waited for
  std::unordered_map<void*, Block*> in_use_;
  std::unique_ptr<EventQueue<Block>> events_;
  MemoryStats stats_;
  PathBytes paths_;
  std::unique_ptr<MemoryHistory> history_;
  size_t limit_ = SIZE_MAX;
  std::atomic<size_t> active_bytes_{0};
};

/// The process's allocator of a CUDA device (index -1: the current one); throws if the device does
/// not exist.
DeviceAllocator& device_allocator(Device device);

/// The size of the block for a request, if it is taken from a new segment.
size_t device_block_bytes(size_t bytes);

/// Shortcuts to the functions of device_allocator(device). The CUDA plugin allocates its workspaces
/// with them.
HEARTH_API void* device_allocate(Device device, size_t bytes, StreamHandle stream);
HEARTH_API void device_free(Device device, void* data, StreamHandle stream);
void device_record_stream(void* data, Device device, StreamHandle stream);

}  // namespace hearth
