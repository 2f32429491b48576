#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "kernels/cuda/stream.h"
#include "seam/backend.h"

namespace hearth::cuda {

/// This build's kernels.
const KernelTable& kernel_table();

/// The GPUs of the CUDA runtime.
class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device_count);
  ~CudaBackend() override = default;

  const char* name() const override { return "CUDA"; }
  const KernelTable& kernels() const override { return kernel_table(); }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  cuda::DeviceProperties properties(int device) const override;
  std::vector<std::pair<std::string, std::string>> libraries() const override;

  void* allocate(int device, size_t bytes) override;
  void free(int device, void* data, size_t bytes) override;
  void memory_info(int device, size_t& free_bytes, size_t& total_bytes) override;
  bool can_access_peer(int device, int peer) override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* data) override;
  Reach reach_of(const void* data) override;
  bool has_cudnn() const override;
  std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) override;
  std::vector<std::pair<std::string, int64_t>> library_calls() const override;

  StreamHandle default_stream(int device) override;
  StreamHandle create_stream(int device, int priority) override;
  void* native_stream(StreamHandle stream) const override;
  bool query(int device, StreamHandle stream) override;
  void synchronize(int device, StreamHandle stream) override;
  void synchronize_device(int device) override;
  FaultSlot* fault_slot(int device, StreamHandle stream) override;

  EventHandle create_event(int device, bool timing) override;
  void destroy_event(EventHandle event) override;
  void record(EventHandle event, int device, StreamHandle stream) override;
  void wait(int device, StreamHandle stream, EventHandle event) override;
  bool query(EventHandle event) override;
  void synchronize(EventHandle event) override;
  float elapsed_ms(EventHandle start, EventHandle end) override;

  void begin_capture(int device, StreamHandle stream, CaptureMode mode) override;
  bool is_capturing(int device, StreamHandle stream) override;
  CapturedGraph end_capture(int device, StreamHandle stream) override;
  void launch(GraphHandle graph, int device, StreamHandle stream) override;
  void destroy_graph(GraphHandle graph) override;

  void copy(void* to, const void* from, size_t bytes, CopyKind kind, int device,
            StreamHandle stream) override;
  void copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                 StreamHandle from_stream) override;
  void set_zero(void* data, size_t bytes, int device, StreamHandle stream) override;

  void run_kernel(const ParamsType& type, const void* params, Ctx& ctx) override;
  void* allocate_scratch(size_t bytes, Ctx& ctx) override;
  void free_scratch(void* data, size_t bytes, Ctx& ctx) override;

  void record_activities(ActivitySink* sink) override;
  const RangeMarker* range_marker() const override;

 private:
  /// A device and its streams, which live as long as the process.
  struct DeviceState {
    std::mutex mutex;
    std::vector<std::unique_ptr<NativeStream>> streams;  // the default one first
    int multi_processors = 1;
  };
  /// Wraps a stream and gives it a fault slot; the device is current and its mutex held.
  NativeStream* add_stream(int device, cudaStream_t stream);
  void enable_peer_access(int device, int peer);

  std::vector<DeviceState> devices_;
  std::mutex peers_mutex_;
  std::set<std::pair<int, int>> peers_;  // (device, peer) for which access was requested
};

}  // namespace hearth::cuda
