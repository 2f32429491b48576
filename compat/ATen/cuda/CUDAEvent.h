#pragma once

#include <utility>

#include "c10/cuda/CUDAStream.h"

namespace hearth::cuda {

/// A marker in a stream, created when it is first recorded.
class CUDAEvent {
 public:
  /// The flags of cudaEventCreateWithFlags; an event with cudaEventDisableTiming, as by default,
  /// has no time.
  explicit CUDAEvent(unsigned flags = kDisableTiming) : event_((flags & kDisableTiming) == 0) {}

  bool isCreated() const { return is_created_; }
  void record() { record(getCurrentCUDAStream()); }
  void record(const CUDAStream& stream) {
    event_.record(stream);
    is_created_ = true;
  }
  void recordOnce(const CUDAStream& stream) {
    if (!is_created_) record(stream);
  }
  /// Later work of the stream waits for the event.
  void block(const CUDAStream& stream) const {
    if (is_created_) event_.wait(stream);
  }
  bool query() const { return !is_created_ || event_.query(); }
  void synchronize() const {
    if (is_created_) event_.synchronize();
  }
  /// Milliseconds from this event to `other`.
  float elapsed_time(const CUDAEvent& other) const { return event_.elapsed_time(other.event_); }

 private:
  static constexpr unsigned kDisableTiming = 2;
  Event event_;
  bool is_created_ = false;
};

}  // namespace hearth::cuda
