#pragma once

#include <optional>
#include <utility>

#include "c10/cuda/CUDAGuard.h"
#include "c10/cuda/CUDAStream.h"

// CUDA's flags of events, as in its headers.
#ifndef cudaEventDefault
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#endif

namespace hearth::cuda {

/// A marker in a stream. It belongs to the device of create() or of its first recording.
class CUDAEvent {
 public:
  CUDAEvent() noexcept = default;
  CUDAEvent(unsigned int flags) noexcept
      : flags_(flags), event_((flags & cudaEventDisableTiming) == 0) {}
  CUDAEvent(CUDAEvent&& other) noexcept
      : flags_(other.flags_),
        device_index_(other.device_index_),
        is_created_(std::exchange(other.is_created_, false)),
        was_recorded_(other.was_recorded_),
        event_(std::move(other.event_)) {}
  CUDAEvent& operator=(CUDAEvent&& other) noexcept {
    if (this == &other) return *this;
    flags_ = other.flags_;
    device_index_ = other.device_index_;
    is_created_ = std::exchange(other.is_created_, false);
    was_recorded_ = other.was_recorded_;
    event_ = Event();
    std::swap(event_, other.event_);
    return *this;
  }

  std::optional<Device> device() const {
    if (!is_created_) return std::nullopt;
    return Device(DeviceType::CUDA, device_index_);
  }
  bool isCreated() const { return is_created_; }
  DeviceIndex device_index() const { return device_index_; }
  void create(DeviceIndex device_index) {
    if (!is_created_) device_index_ = device_index;
    is_created_ = true;
  }

  void record() { record(getCurrentCUDAStream()); }
  void recordOnce(const CUDAStream& stream) {
    if (!was_recorded_) record(stream);
  }
  void record(const CUDAStream& stream) {
    create(stream.device_index());
    HEARTH_CHECK(device_index_ == stream.device_index(), "Event device ", int{device_index_},
                 " does not match recording stream's device ", int{stream.device_index()}, ".");
    event_.record(stream);
    was_recorded_ = true;
  }
  /// Later work of the stream waits for the event.
  void block(const CUDAStream& stream) const { event_.wait(stream); }
  bool query() const { return event_.query(); }
  void synchronize() const { event_.synchronize(); }
  float elapsed_time(const CUDAEvent& end) const {
    HEARTH_CHECK_AS(ValueError, !((flags_ | end.flags_) & cudaEventDisableTiming),
                    "Both events must be created with argument 'enable_timing=True'.");
    HEARTH_CHECK_AS(ValueError, is_created_ && end.is_created_,
                    "Both events must be recorded before calculating elapsed time.");
    return event_.elapsed_time(end.event_);
  }

 private:
  unsigned int flags_ = cudaEventDisableTiming;
  DeviceIndex device_index_ = -1;
  bool is_created_ = false;
  bool was_recorded_ = false;
  Event event_;
};

}  // namespace hearth::cuda
