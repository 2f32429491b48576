#pragma once

#include "c10/core/Stream.h"
#include "hearth/error.h"

namespace hearth::cuda {

/// A stream of a GPU with LibTorch's members.
class CUDAStream : public Stream {
 public:
  enum Unchecked { UNCHECKED };

  using Stream::Stream;
  CUDAStream(const Stream& stream) : Stream(stream) {}
  explicit CUDAStream(const c10::Stream& stream) : Stream(stream.cuda_stream()) {}
  CUDAStream(Unchecked, const c10::Stream& stream) : CUDAStream(stream) {}

  DeviceType device_type() const { return DeviceType::CUDA; }
  c10::Stream unwrap() const { return *this; }
  c10::StreamId id() const { return unwrap().id(); }
  bool is_capturing() const { return unwrap().is_capturing(); }
  c10::StreamData3 pack3() const { return unwrap().pack3(); }
  static CUDAStream unpack3(c10::StreamId id, DeviceIndex index, DeviceType type) {
    return CUDAStream(c10::Stream::unpack3(id, index, type));
  }
};

inline std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) {
  return out << stream.unwrap();
}

inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) { return current_stream(device); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) { return default_stream(device); }
inline void setCurrentCUDAStream(const CUDAStream& stream) { set_stream(stream); }
/// The next stream of a pool: of the one for negative priorities, or of the other one.
inline CUDAStream getStreamFromPool(int priority, DeviceIndex device = -1) {
  return CUDAStream(Device(DeviceType::CUDA, device), priority);
}
inline CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1) {
  return getStreamFromPool(high_priority ? -1 : 0, device);
}

}  // namespace hearth::cuda

template <>
struct std::hash<hearth::cuda::CUDAStream> {
  size_t operator()(const hearth::cuda::CUDAStream& stream) const noexcept {
    return stream.unwrap().hash();
  }
};
