#pragma once

#include <optional>

#include "c10/namespaces.h"
#include "hearth/cuda.h"

namespace c10 {

/// Makes a device the current one of its type during the guard's lifetime; does nothing for the CPU
/// and for a device without an index.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) : original_(current_of(device.type())), current_(original_) {
    reset_device(device);
  }
  ~DeviceGuard() { restore(); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Makes another device the current one. If it has another type, the former type's original
  /// device becomes current again.
  void reset_device(Device device) {
    if (device.index() == -1) return;
    if (device.type() != original_.type()) {
      restore();
      original_ = current_of(device.type());
    }
    if (device.is_cuda()) hearth::cuda::set_device(device);
    current_ = device;
  }
  void set_index(DeviceIndex index) { reset_device(Device(original_.type(), index)); }
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  static Device current_of(DeviceType type) {
    if (type != DeviceType::CUDA) return Device(type);
    return Device(type, static_cast<DeviceIndex>(hearth::cuda::current_device()));
  }
  void restore() const {
    if (original_.is_cuda()) hearth::cuda::set_device(original_);
  }

  Device original_, current_;
};

namespace impl {

/// A guard of a device that may be chosen later, or never.
template <class Guard>
class OptionalGuard {
 public:
  OptionalGuard() = default;
  explicit OptionalGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  void reset_device(Device device) {
    if (guard_)
      guard_->reset_device(device);
    else
      guard_.emplace(device);
  }
  std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }
  void reset() { guard_.reset(); }

 private:
  std::optional<Guard> guard_;
};

}  // namespace impl

/// A DeviceGuard for an optional device; without a device, it does nothing.
class OptionalDeviceGuard : public impl::OptionalGuard<DeviceGuard> {
 public:
  using impl::OptionalGuard<DeviceGuard>::OptionalGuard;
};

}  // namespace c10

namespace at {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
}  // namespace at
namespace torch {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
}  // namespace torch
