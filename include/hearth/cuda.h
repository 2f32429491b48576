#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hearth/device.h"
#include "hearth/export.h"
#include "hearth/memory_stats.h"
#include "hearth/owned_ptr.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

/// GPUs: devices, memory, streams and events. The environment variable HEARTH_SIM_GPUS=N simulates
/// N GPUs in host memory (docs/environment.md).
namespace hearth::cuda {

/// The properties of a GPU.
struct DeviceProperties {
  std::string name;
  size_t total_memory = 0;        ///< bytes
  int multi_processor_count = 0;  ///< streaming multiprocessors
  int major = 0;                  ///< the first number of the compute capability
  int minor = 0;                  ///< its second number
  int max_threads_per_block = 0;
  int warp_size = 32;
  int max_threads_per_multi_processor = 0;
  int regs_per_multiprocessor = 0;              ///< 32-bit registers
  size_t shared_memory_per_block = 0;           ///< bytes, unless a kernel asks for more
  size_t shared_memory_per_multiprocessor = 0;  ///< bytes
  size_t L2_cache_size = 0;                     ///< bytes
};

/// Whether a GPU is available. The first call loads the CUDA backend.
HEARTH_API bool is_available();
/// The reason why no GPU is available; empty if one is.
HEARTH_API std::string why_not();
HEARTH_API int device_count();              ///< the number of GPUs; 0 without a backend
HEARTH_API int current_device();            ///< the index of this thread's current device
HEARTH_API void set_device(Device device);  ///< sets this thread's current device
HEARTH_API void set_device(int index);      ///< sets this thread's current device
HEARTH_API std::string get_device_name(int device = -1);             ///< such as "NVIDIA A100"
HEARTH_API DeviceProperties get_device_properties(int device = -1);  ///< -1: current device
/// Whether kernels on `device` can access the memory of `peer_device`.
HEARTH_API bool can_device_access_peer(int device, int peer_device);

/// Waits for all work on the device (-1: the current one); throws if a kernel found a fault, such
/// as an index out of range.
HEARTH_API void synchronize(int device = -1);

/// Seeds the current device's default generator; does nothing without a device.
HEARTH_API void manual_seed(uint64_t seed);
/// Seeds the default generators of all devices.
HEARTH_API void manual_seed_all(uint64_t seed);
/// Whether a GPU is available and cuDNN was found.
HEARTH_API bool cudnn_is_available();

HEARTH_API size_t memory_allocated(int device = -1);       ///< bytes used by tensors
HEARTH_API size_t max_memory_allocated(int device = -1);   ///< peak of memory_allocated()
HEARTH_API size_t memory_reserved(int device = -1);        ///< bytes used by tensors or cached
HEARTH_API size_t max_memory_reserved(int device = -1);    ///< peak of memory_reserved()
HEARTH_API MemoryStats memory_stats(int device = -1);      ///< statistics of the device's allocator
HEARTH_API void reset_peak_memory_stats(int device = -1);  ///< sets the peaks to the current values
/// hearth::memory_summary() of the device.
HEARTH_API std::string memory_summary(int device = -1, bool abbreviated = false);
/// Releases cached memory that no tensor uses, on all devices.
HEARTH_API void empty_cache();
/// Allocates memory of the device for use on its current stream.
HEARTH_API void* caching_allocator_alloc(size_t bytes, int device = -1);
HEARTH_API void caching_allocator_delete(void* data);  ///< frees it; null is ignored
/// Limits the memory reserved on the device to this part of its total memory, from 0 to 1; beyond
/// it, allocations throw OutOfMemoryError.
HEARTH_API void set_per_process_memory_fraction(double fraction, int device = -1);
HEARTH_API double get_per_process_memory_fraction(int device = -1);  ///< 1 unless set
/// The free and the total bytes of the device.
HEARTH_API std::pair<size_t, size_t> mem_get_info(int device = -1);

class Event;

/// An in-order queue of work on one device. Copies refer to the same queue.
class HEARTH_API Stream {
 public:
  /// The next stream of the device's pool of 32. Negative priorities have a pool of their own and
  /// run first.
  explicit Stream(Device device = Device(DeviceType::CUDA), int priority = 0);
  /// The stream of `device` with the backend's `handle`; null is the default stream.
  Stream(Device device, void* handle);

  void synchronize() const;                     ///< waits for all work in the stream
  bool query() const;                           ///< whether all work in the stream has finished
  void wait_event(const Event& event) const;    ///< later work waits for the event
  void wait_stream(const Stream& other) const;  ///< later work waits for other's work so far
  Event record_event() const;                   ///< a new event after the work so far
  Device device() const { return device_; }
  DeviceIndex device_index() const { return device_.index(); }
  void* handle() const { return handle_; }  ///< the backend's handle, not a cudaStream_t
  /// The cudaStream_t, for your own kernels and libraries: `kernel<<<grid, block, 0, stream>>>`.
  /// Throws on simulated GPUs, which have none.
  CUstream_st* stream() const;
  operator CUstream_st*() const { return stream(); }
  friend bool operator==(const Stream& a, const Stream& b) {
    return a.device_ == b.device_ && a.handle_ == b.handle_;
  }

 private:
  Device device_;
  void* handle_;
};

/// This thread's current stream of a device.
HEARTH_API Stream current_stream(int device = -1);
HEARTH_API Stream default_stream(int device = -1);  ///< the stream that is initially current
/// Makes the stream this thread's current stream of the stream's device; the current device is
/// unchanged.
HEARTH_API void set_stream(const Stream& stream);

/// A marker in a stream. It belongs to the device on which it was first recorded.
class HEARTH_API Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  void record();                          ///< marks the end of the current stream's work so far
  void record(const Stream& stream);      ///< marks the end of `stream`'s work so far
  void wait() const;                      ///< the current stream's later work waits for the event
  void wait(const Stream& stream) const;  ///< `stream`'s later work waits for the event
  /// Waits for the event; throws if a kernel before it found a fault.
  void synchronize() const;
  bool query() const;  ///< whether all work before the event has finished
  /// Milliseconds from this event to `end`; both must have been created with enable_timing.
  float elapsed_time(const Event& end) const;

 private:
  bool timing_;
  void* handle_ = nullptr;
  std::optional<Stream> recorded_;
};

/// Makes a device the current one during the guard's lifetime.
class HEARTH_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  explicit DeviceGuard(int index) : DeviceGuard(Device(DeviceType::CUDA, DeviceIndex(index))) {}
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int former_;
};

/// A DeviceGuard for an optional device; without one it does nothing.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_ = hearth::detail::OwnedPtr(new DeviceGuard(*device));
  }

 private:
  hearth::detail::OwnedPtr<DeviceGuard> guard_;
};

/// Makes a stream and its device the current ones during the guard's lifetime.
class HEARTH_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DeviceGuard device_;
  Stream former_;
};

}  // namespace hearth::cuda
