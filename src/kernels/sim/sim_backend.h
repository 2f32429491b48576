#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/backends.h"
#include "kernels/sim/config.h"
#include "kernels/sim/memory.h"
#include "kernels/sim/scratch.h"
#include "kernels/sim/stream.h"

namespace hearth::sim {

/// Simulated GPUs: the CPU's kernels on separate memory and streams.
class SimBackend : public Backend {
 public:
  explicit SimBackend(const Config& config);
  ~SimBackend() override;

  const char* name() const override { return "CUDA"; }
  const KernelTable& kernels() const override { return cpu_backend().kernels(); }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  cuda::DeviceProperties properties(int device) const override;
  std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) override {
    return cpu_backend().plan_recurrence_net(shape, ctx);
  }

  void* allocate(int device, size_t bytes) override;
  void free(int device, void* data, size_t bytes) override;
  void memory_info(int device, size_t& free_bytes, size_t& total_bytes) override;
  bool can_access_peer(int device, int peer) override { return device != peer; }
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* data) override;
  Reach reach_of(const void* data) override;
  void* kernel_address(int device, void* data) const override;

  StreamHandle default_stream(int device) override;
  StreamHandle create_stream(int device, int priority) override;
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
  void record_activities(ActivitySink* sink) override { sink_ = sink; }

  /// Makes host programs that access device memory print an explanation before they end.
  void explain_accesses() const;
  /// Stops all streams and drops their pending work; for the end of the process.
  void stop();

 private:
  struct DeviceState {
    explicit DeviceState(const Config& config)
        : memory(config.memory), default_stream(config.lazy) {}
    Memory memory;
    Scratch scratch;
    Stream default_stream;
    std::mutex mutex;
    std::vector<std::unique_ptr<Stream>> other_streams;
  };

  DeviceState& state(int device) const { return *devices_[static_cast<size_t>(device)]; }
  std::vector<Stream*> streams_of(int device);
  void wait_until_idle(int device);
  size_t scratch_limit(int device);
  bool is_pinned(const void* data);

  /// Adds work to a stream and, if activities are recorded, reports it when it has run. Returns its
  /// position in the stream.
  uint64_t submit(DeviceActivity activity, StreamHandle stream, std::function<void()> work);

  Config config_;
  std::atomic<ActivitySink*> sink_{nullptr};
  std::vector<std::unique_ptr<DeviceState>> devices_;
  std::mutex pinned_mutex_;
  std::map<const std::byte*, size_t> pinned_;  // page-locked ranges: address and bytes
};

}  // namespace hearth::sim
