#pragma once

#include "c10/core/Stream.h"
#include "hearth/error.h"

namespace c10 {

enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };  // the second one keeps times

/// A marker in a stream of a device of one type; CPUs have none.
class Event final {
 public:
  Event(DeviceType device_type, EventFlag flag = EventFlag::PYTORCH_DEFAULT)
      : device_(device_type), flag_(flag), event_(flag == EventFlag::BACKEND_DEFAULT) {}

  Device device() const noexcept { return device_; }
  DeviceType device_type() const noexcept { return device_.type(); }
  DeviceIndex device_index() const noexcept { return device_.index(); }
  EventFlag flag() const noexcept { return flag_; }
  bool was_marked_for_recording() const noexcept { return is_recorded_; }
  void* eventId() const {
    return is_recorded_ ? const_cast<hearth::cuda::Event*>(&event_) : nullptr;
  }

  void recordOnce(const Stream& stream) {
    if (!is_recorded_) record(stream);
  }
  void record(const Stream& stream) {
    check_type(stream.device_type(), "recording stream");
    HEARTH_CHECK(stream.device().is_cuda(), device_.type(), " backend doesn't support events.");
    event_.record(stream.cuda_stream());
    is_recorded_ = true;
    device_.set_index(stream.device_index());
  }
  void block(const Stream& stream) const {
    if (!is_recorded_) return;
    check_type(stream.device_type(), "blocking stream");
    event_.wait(stream.cuda_stream());
  }
  bool query() const { return event_.query(); }
  void synchronize() const { event_.synchronize(); }
  double elapsedTime(const Event& other) const {
    check_type(other.device_type(), "other");
    HEARTH_CHECK_AS(
        ValueError,
        flag_ == EventFlag::BACKEND_DEFAULT && other.flag_ == EventFlag::BACKEND_DEFAULT,
        "Both events must be created with argument 'enable_timing=True'.");
    HEARTH_CHECK_AS(ValueError, is_recorded_ && other.is_recorded_,
                    "Both events must be recorded before calculating elapsed time.");
    return double(event_.elapsed_time(other.event_));
  }

 private:
  void check_type(DeviceType type, const char* owner) const {
    HEARTH_CHECK(type == device_.type(), "Event device type ", DeviceTypeName(device_.type()),
                 " does not match ", owner, "'s device type ", DeviceTypeName(type), ".");
  }

  Device device_;
  EventFlag flag_;
  bool is_recorded_ = false;
  hearth::cuda::Event event_;
};

}  // namespace c10

namespace at {
using c10::Event;
}
namespace torch {
using c10::Event;
}
