#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/memory_counters.h"
#include "core/observer.h"
#include "profiler/session.h"

namespace hearth::profiler {

/// The number of the running session; 0 without one.
inline constinit std::atomic<uint64_t> recording_session{0};

/// The observer of one thread: it writes the thread's events into a buffer of the session, without
/// locks. It lives as long as the thread, so that it may stay installed after a session.
class ThreadRecorder final : public Observer {
 public:
  static ThreadRecorder& of_this_thread();
  /// The id of this thread's innermost event (Buffer::last_event_id); 0 if none is recorded.
  static uint64_t innermost_event();

  /// Begins to record for a session, unless it already does. The caller holds Running::mutex
  /// (session.cpp).
  void join(Session& session, uint64_t session_number);

  void begin(const ObservedCall& call) override;
  void end(const ObservedCall& call) override;
  void begin_range(const ObservedRange& range) override;
  void end_range(const void* key) override;

 private:
  /// An event that has not ended, or that has one inside it that has not: a user range.
  struct Open {
    const void* key;  // null if the event has ended
    RawEvent* event;
    uint64_t id;
    bool has_counted;  // a call inside this event has counted its FLOPs
  };

  bool is_recording() const {
    return session_ == recording_session.load(std::memory_order_relaxed) && session_ != 0;
  }
  RawEvent& open(const void* key, RawEvent::Kind kind);
  void close(const void* key);
  void add_shapes(const ObservedCall& call, EventDetails& details);
  void count_flops(const ObservedCall& call);

  uint64_t session_ = 0;  // its number
  SessionOptions options_;
  std::shared_ptr<Buffer> buffer_;
  std::vector<Open> open_;
};

}  // namespace hearth::profiler
