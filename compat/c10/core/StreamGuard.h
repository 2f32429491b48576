#pragma once

#include <optional>
#include <vector>

#include "c10/core/DeviceGuard.h"
#include "c10/core/Stream.h"
#include "hearth/error.h"
#include "hearth/shape.h"

namespace c10 {

namespace impl {

/// The current stream of the device; the CPU's only one.
inline Stream current_stream_of(Device device) {
  if (!device.is_cuda()) return {Stream::DEFAULT, device};
  return hearth::cuda::current_stream(device.index());
}
/// Makes the stream its device's current one; returns the former one.
inline Stream exchange_stream(const Stream& stream) {
  const Stream former = current_stream_of(stream.device());
  if (stream.device().is_cuda()) hearth::cuda::set_stream(stream.cuda_stream());
  return former;
}

}  // namespace impl

/// Makes a stream and its device the current ones during the guard's lifetime.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream)
      : device_(stream.device()),
        original_(impl::current_stream_of(device_.original_device())),
        former_(impl::exchange_stream(stream)),
        current_(stream) {}
  ~StreamGuard() { impl::exchange_stream(former_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  /// Makes another stream current, and the former one's device gets its original stream back.
  void reset_stream(Stream stream) {
    impl::exchange_stream(former_);
    device_.reset_device(stream.device());
    former_ = impl::exchange_stream(stream);
    current_ = stream;
  }
  Stream original_stream() const { return original_; }
  Stream current_stream() const { return current_; }
  Device original_device() const { return device_.original_device(); }
  Device current_device() const { return device_.current_device(); }

 private:
  DeviceGuard device_;
  Stream original_;  // of the original device
  Stream former_;    // of the current device
  Stream current_;
};

/// A StreamGuard for a stream that may be chosen later, or never.
class OptionalStreamGuard {
 public:
  OptionalStreamGuard() = default;
  explicit OptionalStreamGuard(std::optional<Stream> stream) {
    if (stream) guard_.emplace(*stream);
  }
  void reset_stream(Stream stream) {
    if (guard_)
      guard_->reset_stream(stream);
    else
      guard_.emplace(stream);
  }
  std::optional<Stream> original_stream() const {
    return guard_ ? std::optional(guard_->original_stream()) : std::nullopt;
  }
  std::optional<Stream> current_stream() const {
    return guard_ ? std::optional(guard_->current_stream()) : std::nullopt;
  }
  void reset() { guard_.reset(); }

 private:
  std::optional<StreamGuard> guard_;
};

/// Makes several streams the current ones of their devices, which are of one type.
class MultiStreamGuard {
 public:
  explicit MultiStreamGuard(hearth::ArrayRef<Stream> streams) {
    for (size_t i = 1; i < streams.size(); ++i)
      HEARTH_CHECK_AS(ValueError, streams[i].device_type() == streams[0].device_type(),
                      "Streams have a mix of device types: stream 0 is on ", streams[0].device(),
                      " while stream ", i, " is on device ", streams[i].device());
    for (const Stream& stream : streams) former_.push_back(impl::exchange_stream(stream));
  }
  ~MultiStreamGuard() {
    for (const Stream& stream : former_) impl::exchange_stream(stream);
  }
  MultiStreamGuard(const MultiStreamGuard&) = delete;
  MultiStreamGuard& operator=(const MultiStreamGuard&) = delete;

 private:
  std::vector<Stream> former_;
};

}  // namespace c10

namespace at {
using c10::MultiStreamGuard;
using c10::OptionalStreamGuard;
using c10::StreamGuard;
}  // namespace at
namespace torch {
using c10::MultiStreamGuard;
using c10::OptionalStreamGuard;
using c10::StreamGuard;
}  // namespace torch
