#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hearth/device.h"
#include "hearth/export.h"
#include "hearth/memory_stats.h"

struct CUstream_st;  // CUDA's: a cudaStream_t is a pointer to it

/// GPUs: devices, memory, streams and events. HEARTH_SIM_GPUS=N (with HEARTH_SIM_GPU_MEMORY and
/// HEARTH_SIM_LAZY=1) simulates N of them in host memory.
namespace hearth::cuda {

/// What get_device_properties reports.
struct DeviceProperties {
  std::string name;
  size_t total_memory = 0;
  int multi_processor_count = 0;
  int major = 0;
  int minor = 0;
  int max_threads_per_block = 0;
  int warp_size = 32;
};

/// Whether there is at least one device. The first question loads the CUDA backend.
HEARTH_API bool is_available();
/// What is missing, in a sentence; empty when there are devices.
HEARTH_API std::string why_not();
HEARTH_API int device_count();
HEARTH_API int current_device();
HEARTH_API void set_device(Device device);
HEARTH_API void set_device(int index);
HEARTH_API std::string get_device_name(int device = -1);
HEARTH_API DeviceProperties get_device_properties(int device = -1);

/// Waits for everything on the device (-1: the current one) and throws what kernels found wrong.
HEARTH_API void synchronize(int device = -1);

/// Seeds the current device's default generator; does nothing without a device.
HEARTH_API void manual_seed(uint64_t seed);
/// Seeds the default generators of all devices.
HEARTH_API void manual_seed_all(uint64_t seed);
/// Whether there is a device and cuDNN was found for its convolutions.
HEARTH_API bool cudnn_is_available();

HEARTH_API size_t memory_allocated(int device = -1);
HEARTH_API size_t max_memory_allocated(int device = -1);
HEARTH_API size_t memory_reserved(int device = -1);
HEARTH_API size_t max_memory_reserved(int device = -1);
HEARTH_API MemoryStats memory_stats(int device = -1);
HEARTH_API void reset_peak_memory_stats(int device = -1);
/// Gives cached memory that no tensor uses back to all devices.
HEARTH_API void empty_cache();
/// The device's free and total bytes.
HEARTH_API std::pair<size_t, size_t> mem_get_info(int device = -1);

class Event;

/// An in-order queue of work on one device. Copies name the same queue.
class HEARTH_API Stream {
 public:
  /// A stream from the device's pool of 32, which is handed out in turn; lower priority runs first.
  explicit Stream(Device device = Device(DeviceType::CUDA), int priority = 0);
  /// The backend's own stream `handle` of `device`; null is the default stream.
  Stream(Device device, void* handle);

  void synchronize() const;
  /// Whether all work has run.
  bool query() const;
  /// Work submitted from now on waits for the event, or for all work now in the other stream.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;
  Event record_event() const;
  Device device() const { return device_; }
  DeviceIndex device_index() const { return device_.index(); }
  /// The backend's own handle, which only Hearth understands.
  void* handle() const { return handle_; }
  /// The cudaStream_t, for kernels and libraries of your own: `kernel<<<grid, block, 0, stream>>>`.
  /// An Error on simulated GPUs, which have none.
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
HEARTH_API Stream default_stream(int device = -1);
/// Makes the stream current for its device; the current device stays.
HEARTH_API void set_stream(const Stream& stream);

/// A mark in a stream. It belongs to the device on which it was first recorded.
class HEARTH_API Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  /// Marks the place after all work now in the stream (default: the current one).
  void record();
  void record(const Stream& stream);
  /// Makes the stream (default: the current one) wait for the mark.
  void wait() const;
  void wait(const Stream& stream) const;
  /// Waits for the mark and throws what kernels before it found wrong.
  void synchronize() const;
  bool query() const;
  /// Milliseconds from this mark to a later one; both need timing.
  float elapsed_time(const Event& end) const;

 private:
  bool timing_;
  void* handle_ = nullptr;
  std::optional<Stream> recorded_;
};

/// While one lives, its device is the current one.
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

/// DeviceGuard that does nothing without a device.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

/// While one lives, its stream and the stream's device are the current ones.
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
