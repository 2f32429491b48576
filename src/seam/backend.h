#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/error.h"
#include "seam/activity.h"
#include "seam/ctx.h"
#include "seam/range_marker.h"
#include "seam/table.h"

namespace hearth {

namespace cuda {
struct DeviceProperties;
}

struct RecurrenceNetShape;

using EventHandle = void*;
using GraphHandle = void*;

/// CUDA's error for calls that a capture forbids, cudaErrorStreamCaptureUnsupported.
inline constexpr char kNotWhileCapturing[] =
    "CUDA error: operation not permitted when stream is capturing";

/// Which threads must not make calls that a capture forbids: all, only the capturing one, or none.
enum class CaptureMode : int8_t { kGlobal, kThreadLocal, kRelaxed };

/// The result of a capture.
struct CapturedGraph {
  GraphHandle handle = nullptr;
  size_t num_nodes = 0;  // kernels, copies and fills
};

enum class CopyKind : int8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

/// The devices of one type: memory, streams, events, copies and kernels. The CPU, the simulated
/// GPUs and the CUDA plugin implement it. Work in streams of GPUs runs asynchronously; `device` is
/// an index within the backend.
class Backend {
 public:
  /// Whether the host can access an address, and the index of the device that can (kNoDevice:
  /// none).
  struct Reach {
    static constexpr int kNoDevice = -1;
    bool host = true;
    int device = kNoDevice;
  };

  virtual ~Backend() = default;

  virtual const char* name() const = 0;  // "CPU", "CUDA"
  virtual const KernelTable& kernels() const = 0;
  bool has_kernel(KernelId id) const { return kernels().kernels[static_cast<int>(id)] != nullptr; }
  virtual int device_count() const = 0;
  virtual cuda::DeviceProperties properties(int device) const = 0;
  /// The instruction set that its kernels use ("AVX2"); empty if there is only one.
  virtual const char* instruction_set() const { return ""; }
  /// Names and versions of the libraries that its kernels call.
  virtual std::vector<std::pair<std::string, std::string>> libraries() const { return {}; }

  /// Memory of a GPU, at least 512-byte aligned, or null if no more is available;
  /// core/device_allocator.h caches it. On the CPU: cpu_allocate().
  virtual void* allocate(int device, size_t bytes) = 0;
  /// Frees memory from allocate(device, bytes) after all work on the device has finished.
  virtual void free(int device, void* data, size_t bytes) = 0;
  virtual void memory_info(int device, size_t& free_bytes, size_t& total_bytes) = 0;
  /// Whether kernels of `device` can access the memory of another device.
  virtual bool can_access_peer(int device, int peer) { return (void)device, (void)peer, false; }
  /// Page-locked host memory; null if no more is available.
  virtual void* allocate_pinned(size_t bytes) = 0;
  virtual void free_pinned(void* data) = 0;

  /// Whether convolutions can run: the CUDA plugin needs cuDNN for them.
  virtual bool has_cudnn() const { return true; }
  /// Whether a library computes a recurrent net in one call (RecurrenceNetParams), and how many
  /// bytes of memory its forward pass fills for the backward pass; nullopt if not.
  virtual std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) {
    return (void)shape, (void)ctx, std::nullopt;
  }
  /// For each operator that a library can compute in place of the backend's kernel: its name, and
  /// how often the library did.
  virtual std::vector<std::pair<std::string, int64_t>> library_calls() const { return {}; }

  /// Determines which memory an address is in, for tensors over external memory.
  virtual Reach reach_of(const void* data) { return (void)data, Reach(); }

  /// The address that kernels use for a tensor's data. The simulator makes data() itself
  /// inaccessible, so that a host program crashes at once if it dereferences a device pointer.
  virtual void* kernel_address(int device, void* data) const { return (void)device, data; }

  /// Stream 0 of the device, which always exists.
  virtual StreamHandle default_stream(int device) = 0;
  virtual StreamHandle create_stream(int device, int priority) = 0;
  /// The cudaStream_t of a handle, for user kernels; throws if there is none.
  virtual void* native_stream(StreamHandle) const {
    detail::fail<NotImplementedError>("There is no cudaStream_t: the GPU is simulated");
  }
  /// Whether all work in the stream has finished.
  virtual bool query(int device, StreamHandle stream) = 0;
  /// Waits for all work in the stream. The caller then reads the fault slot (core/streams.h).
  virtual void synchronize(int device, StreamHandle stream) = 0;
  virtual void synchronize_device(int device) = 0;
  /// The slot in which kernels of this stream report their faults.
  virtual FaultSlot* fault_slot(int device, StreamHandle stream) = 0;

  virtual EventHandle create_event(int device, bool timing) = 0;
  /// Destructors call this and free_scratch, and ignore their errors: the device has failed then.
  virtual void destroy_event(EventHandle event) = 0;
  virtual void record(EventHandle event, int device, StreamHandle stream) = 0;
  virtual void wait(int device, StreamHandle stream, EventHandle event) = 0;
  virtual bool query(EventHandle event) = 0;
  virtual void synchronize(EventHandle event) = 0;
  virtual float elapsed_ms(EventHandle start, EventHandle end) = 0;

  /// Records the work of a stream, and of streams that wait for its events, instead of running it,
  /// until end_capture(). Calls that would wait for a stream are errors then.
  virtual void begin_capture(int device, StreamHandle stream, CaptureMode mode) {
    (void)device, (void)stream, (void)mode;
    detail::fail<NotImplementedError>(name(), " has no graphs");
  }
  virtual bool is_capturing(int device, StreamHandle stream) {
    return (void)device, (void)stream, false;
  }
  /// Ends the capture that began on this stream; throws, without a graph, if a call failed in it.
  virtual CapturedGraph end_capture(int device, StreamHandle stream) {
    return (void)device, (void)stream, CapturedGraph();
  }
  /// Runs the recorded work on a stream.
  virtual void launch(GraphHandle graph, int device, StreamHandle stream) {
    (void)graph, (void)device, (void)stream;
  }
  virtual void destroy_graph(GraphHandle graph) { (void)graph; }

  /// Copies bytes in stream order. With pageable host memory it returns when that memory is no
  /// longer needed. Pinned host memory must stay alive until the copy has run; its allocator
  /// ensures that. Addresses are Storage addresses, not kernel addresses.
  virtual void copy(void* to, const void* from, size_t bytes, CopyKind kind, int device,
                    StreamHandle stream) = 0;
  /// Copies bytes between two devices, in order with a stream of the source's device.
  virtual void copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                         StreamHandle from_stream) = 0;
  virtual void set_zero(void* data, size_t bytes, int device, StreamHandle stream) = 0;

  /// Runs kernels()[type.id] on the stream. The default calls it at once, which suits backends
  /// whose kernels enqueue themselves; the simulator copies the parameters into its stream.
  virtual void run_kernel(const ParamsType& type, const void* params, Ctx& ctx) {
    kernels().kernels[static_cast<int>(type.id)](params, ctx);
  }
  /// Scratch memory for one launch; null if none is available (Ctx::scratch then throws).
  virtual void* allocate_scratch(size_t bytes, Ctx& ctx) = 0;
  virtual void free_scratch(void* data, size_t bytes, Ctx& ctx) = 0;

  /// Passes all later work of the devices to the sink, which must exist until the process ends.
  /// Null ends the recording; if the devices were synchronised before, the sink then has all
  /// activities.
  virtual void record_activities(ActivitySink* sink) { (void)sink; }
  /// Ranges for the vendor's profilers; null if there are none.
  virtual const RangeMarker* range_marker() const { return nullptr; }
};

/// Formats a size: "512 bytes", "1.50 KiB", "20.00 MiB", "7.80 GiB".
std::string format_bytes(size_t bytes);

/// The plugin's entry point ("hearth_cuda_backend"). Returns null, with the reason in `why_not`, if
/// the core was built from other seam headers or if a requirement is missing.
inline constexpr char kPluginSymbol[] = "hearth_cuda_backend";
using PluginEntry = Backend* (*)(uint64_t seam_hash, std::string* why_not);

}  // namespace hearth
