#pragma once

#include <optional>
#include <vector>

#include "c10/core/StreamGuard.h"
#include "c10/cuda/CUDAFunctions.h"
#include "c10/cuda/CUDAStream.h"

namespace hearth::cuda {

/// Makes a GPU the current one during the guard's lifetime.
class CUDAGuard : public c10::DeviceGuard {
 public:
  explicit CUDAGuard(DeviceIndex index) : c10::DeviceGuard(Device(DeviceType::CUDA, index)) {}
  explicit CUDAGuard(Device device) : c10::DeviceGuard(checked(device)) {}
  void set_device(Device device) { reset_device(device); }
  void reset_device(Device device) { c10::DeviceGuard::reset_device(checked(device)); }

 private:
  static Device checked(Device device) {
    HEARTH_CHECK(device.is_cuda(), "Expected a cuda device, but got: ", device);
    return device;
  }
};

/// A CUDAGuard of a GPU that may be chosen later, or never.
class OptionalCUDAGuard : public c10::impl::OptionalGuard<CUDAGuard> {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) : OptionalGuard(device) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index)
      : OptionalGuard(index ? std::optional(Device(DeviceType::CUDA, *index)) : std::nullopt) {}
  void set_device(Device device) { reset_device(device); }
  void set_index(DeviceIndex index) { reset_device(Device(DeviceType::CUDA, index)); }
};

/// Makes a stream and its GPU the current ones during the guard's lifetime.
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(const CUDAStream& stream) : guard_(stream) {}
  explicit CUDAStreamGuard(const c10::Stream& stream) : guard_(CUDAStream(stream)) {}
  void reset_stream(const CUDAStream& stream) { guard_.reset_stream(stream); }
  CUDAStream original_stream() const { return CUDAStream(guard_.original_stream()); }
  CUDAStream current_stream() const { return CUDAStream(guard_.current_stream()); }
  Device original_device() const { return guard_.original_device(); }
  Device current_device() const { return guard_.current_device(); }

 private:
  c10::StreamGuard guard_;
};

/// A CUDAStreamGuard of a stream that may be chosen later, or never.
class OptionalCUDAStreamGuard {
 public:
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(const CUDAStream& stream) { reset_stream(stream); }
  explicit OptionalCUDAStreamGuard(const std::optional<CUDAStream>& stream) {
    if (stream) reset_stream(*stream);
  }
  void reset_stream(const CUDAStream& stream) { guard_.reset_stream(stream); }
  std::optional<CUDAStream> original_stream() const { return wrapped(guard_.original_stream()); }
  std::optional<CUDAStream> current_stream() const { return wrapped(guard_.current_stream()); }
  void reset() { guard_.reset(); }

 private:
  static std::optional<CUDAStream> wrapped(const std::optional<c10::Stream>& stream) {
    return stream ? std::optional(CUDAStream(*stream)) : std::nullopt;
  }
  c10::OptionalStreamGuard guard_;
};

/// Makes several streams the current ones of their GPUs; the current GPU stays the same.
class CUDAMultiStreamGuard {
 public:
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams)
      : guard_(std::vector<c10::Stream>(streams.begin(), streams.end())) {}

 private:
  c10::MultiStreamGuard guard_;
};

}  // namespace hearth::cuda
