#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

#include "c10/namespaces.h"
#include "hearth/cuda.h"
#include "hearth/cuda_graph.h"
#include "hearth/stream.h"

namespace c10 {

using StreamId = int64_t;

/// A stream's parts, for storing it.
struct StreamData3 {
  StreamId stream_id;
  DeviceIndex device_index;
  DeviceType device_type;
};

/// A stream of a device of any type. The CPU has one, which runs its work at once.
class Stream final {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };

  Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  Stream(Default, Device device) : device_(device), id_(0) {}
  Stream(const hearth::cuda::Stream& stream) : device_(stream.device()) {
    const bool is_default = stream == hearth::cuda::default_stream(device_index());
    id_ = is_default ? 0 : static_cast<StreamId>(reinterpret_cast<intptr_t>(stream.handle()));
  }

  Device device() const noexcept { return device_; }
  DeviceType device_type() const noexcept { return device_.type(); }
  DeviceIndex device_index() const noexcept { return device_.index(); }
  StreamId id() const noexcept { return id_; }
  /// The GPU's stream; throws on other devices.
  hearth::cuda::Stream cuda_stream() const {
    return {device_, reinterpret_cast<void*>(static_cast<intptr_t>(id_))};
  }
  void* native_handle() const { return cuda_stream().stream(); }

  /// Later work waits for the event.
  template <class T>
  void wait(const T& event) const {
    event.block(*this);
  }
  bool query() const { return !device_.is_cuda() || cuda_stream().query(); }
  void synchronize() const {
    if (device_.is_cuda()) cuda_stream().synchronize();
  }
  bool is_capturing() const {
    if (!device_.is_cuda()) return false;
    const hearth::cuda::StreamGuard guard(cuda_stream());
    return hearth::cuda::is_current_stream_capturing();
  }

  uint64_t hash() const noexcept {
    return static_cast<uint64_t>(device_type()) << 56 |
           static_cast<uint64_t>(device_index()) << 48 |
           (static_cast<uint64_t>(id_) & ((uint64_t{1} << 48) - 1));
  }
  StreamData3 pack3() const { return {id_, device_index(), device_type()}; }
  static Stream unpack3(StreamId id, DeviceIndex index, DeviceType type) {
    return {UNSAFE, Device(type, index), id};
  }
  friend bool operator==(const Stream& a, const Stream& b) noexcept {
    return a.device_ == b.device_ && a.id_ == b.id_;
  }

 private:
  Device device_;
  StreamId id_;
};

inline std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

}  // namespace c10

template <>
struct std::hash<c10::Stream> {
  size_t operator()(const c10::Stream& stream) const noexcept { return stream.hash(); }
};

namespace at {
using c10::Stream;
}
namespace torch {
using c10::Stream;
}
