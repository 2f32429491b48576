#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/observer.h"

namespace hearth::profiler {

/// The details of an event that record_shapes, with_flops and profile_memory ask for. The thread
/// that records the event writes them before the event's end.
struct EventDetails {
  int64_t flops = 0;
  int64_t cpu_bytes = 0, device_bytes = 0;
  int64_t num_shapes = 0;
  int64_t* shapes = nullptr;  // for each input: the number of dimensions, the sizes
};

/// An event as its thread records it; another thread may read it at the same time. Its members have
/// no initial values, so that memory is touched only once.
struct RawEvent {
  enum class Kind : uint8_t { kOp, kUser, kModule, kBackward };
  uint64_t start;  // in ticks
  uint64_t end;    // 0 until the event has ended; written last
  union {
    const OpRecord* op;
    const char* text;  // the name, if has_text
  };
  uint64_t sequence_nr;  // of the node; for an op, of its node if it records one
  EventDetails* details;
  uint32_t text_size;
  uint16_t depth;  // the number of events around it
  Kind kind : 4;
  bool has_text : 1;
  bool is_inplace : 1;

  void set_end(uint64_t ticks) {
    std::atomic_ref<uint64_t>(end).store(ticks, std::memory_order_release);
  }
  uint64_t get_end() const {
    return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(end)).load(std::memory_order_acquire);
  }
  std::string_view name() const { return {text, text_size}; }
};

/// The events of one thread in the order of their starts. Only this thread adds events; others may
/// read those that it has published. Events are stored in chunks; their names and details are
/// stored in blocks of bytes.
class Buffer {
 public:
  explicit Buffer(uint64_t id);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// A new event, which readers do not see before publish().
  RawEvent& append() {
    if (used_ == kChunkEvents) [[unlikely]]
      add_chunk();
    return last_->events[used_++];
  }
  void publish() { last_->count.store(used_, std::memory_order_release); }
  /// Takes memory for a name or details from a block; it lives as long as the buffer.
  void* take(size_t bytes);
  std::string_view copy(std::string_view text);

  /// The id of the event that was added last: unique in the session, never 0. It consists of the
  /// buffer's id and the event's index plus 1.
  uint64_t last_event_id() const { return id_ << kIndexBits | (events_before_ + used_); }
  static uint64_t buffer_id_of(uint64_t event_id) { return event_id >> kIndexBits; }
  static uint64_t index_of(uint64_t event_id) {
    return (event_id & ((uint64_t{1} << kIndexBits) - 1)) - 1;
  }

  uint64_t id() const { return id_; }
  int64_t thread() const { return thread_; }  // the system's number
  template <class F>
  void for_each(const F& f) const {
    for (const Chunk* chunk = &first_; chunk; chunk = chunk->next.load(std::memory_order_acquire)) {
      const size_t count = chunk->count.load(std::memory_order_acquire);
      for (size_t i = 0; i < count; ++i) f(chunk->events[i]);
    }
  }

 private:
  static constexpr size_t kChunkEvents = 1024, kBlockBytes = size_t{64} << 10;
  static constexpr int kIndexBits = 40;
  struct Chunk {
    ~Chunk() { delete next.load(); }
    RawEvent events[kChunkEvents];  // without initial values
    std::atomic<size_t> count{0};
    std::atomic<Chunk*> next{nullptr};
  };
  void add_chunk();

  uint64_t id_;
  int64_t thread_;
  Chunk first_;
  Chunk* last_ = &first_;
  size_t used_ = 0;           // events in the last chunk
  size_t events_before_ = 0;  // events in the chunks before it
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace hearth::profiler
