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
  uint64_t sequence_nr;  // of a node; of an op: the number that its node would get
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
/// read those that it has published. Memory comes in large blocks.
class Buffer {
 public:
  explicit Buffer(uint64_t number);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// A new event, which readers do not see before publish().
  RawEvent& append() {
    if (used_ == kChunkEvents) [[unlikely]]
      add_chunk();
    return last_->events[used_++];
  }
  void publish() { last_->count.store(used_, std::memory_order_release); }
  /// Memory for a part of an event, which lives as long as the buffer.
  void* take(size_t bytes);
  std::string_view copy(std::string_view text);

  /// A number for the event that was added last; unique in the session, never 0.
  uint64_t last_number() const { return number_ << kIndexBits | (chunks_before_ + used_); }
  static uint64_t buffer_of(uint64_t event) { return event >> kIndexBits; }
  static uint64_t index_of(uint64_t event) {
    return (event & ((uint64_t{1} << kIndexBits) - 1)) - 1;
  }

  uint64_t number() const { return number_; }
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

  uint64_t number_;
  int64_t thread_;
  Chunk first_;
  Chunk* last_ = &first_;
  size_t used_ = 0, chunks_before_ = 0;  // events in the last chunk and in those before it
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace hearth::profiler
