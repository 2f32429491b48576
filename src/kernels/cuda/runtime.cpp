#include "kernels/cuda/runtime.h"

#include <pthread.h>

#include <atomic>
#include <new>

#include "core/device_allocator.h"
#include "hearth/cuda.h"
#include "kernels/cuda/cupti.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/nvtx.h"

namespace hearth::cuda {

namespace {

/// Whether this process is a forked child, in which CUDA does not work and its calls may hang.
std::atomic<bool> is_child{false};

void check_not_forked() {
  HEARTH_CHECK(!is_child.load(std::memory_order_relaxed),
               "Cannot re-initialize CUDA in forked subprocess: start the process anew instead");
}

cudaStream_t native(StreamHandle stream) {
  return static_cast<const NativeStream*>(stream)->stream;
}
cudaEvent_t native_event(EventHandle event) { return static_cast<cudaEvent_t>(event); }

/// Returns false for cudaErrorNotReady; throws for other errors.
bool is_ready(cudaError_t error, const char* call) {
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  if (error != cudaSuccess) fail_cuda(error, call);
  return true;
}

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes{};
  HEARTH_CUDA(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeHost;
}

cudaMemcpyKind native_kind(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice: return cudaMemcpyHostToDevice;
    case CopyKind::kDeviceToHost: return cudaMemcpyDeviceToHost;
    default: return cudaMemcpyDeviceToDevice;
  }
}

int attribute_of(int device, cudaDeviceAttr attribute) {
  int value = 0;
  HEARTH_CUDA(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Permits calls that allocate memory during a capture: they do not affect the graph.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

cudaStreamCaptureMode native_mode(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::kThreadLocal: return cudaStreamCaptureModeThreadLocal;
    case CaptureMode::kRelaxed: return cudaStreamCaptureModeRelaxed;
    default: return cudaStreamCaptureModeGlobal;
  }
}

}  // namespace

CurrentDevice::CurrentDevice(int device) {
  check_not_forked();
  int current = -1;
  HEARTH_CUDA(cudaGetDevice(&current));
  if (current == device) return;
  HEARTH_CUDA(cudaSetDevice(device));
  former_ = current;
}

CurrentDevice::~CurrentDevice() {
  if (former_ >= 0) cudaSetDevice(former_);  // ignores errors: a destructor must not throw
}

CudaBackend::CudaBackend(int device_count) : devices_(static_cast<size_t>(device_count)) {
  for (int device = 0; device < device_count; ++device)
    devices_[static_cast<size_t>(device)].multi_processors =
        attribute_of(device, cudaDevAttrMultiProcessorCount);
  pthread_atfork(nullptr, nullptr, [] { is_child = true; });
}

cuda::DeviceProperties CudaBackend::properties(int device) const {
  check_not_forked();
  cudaDeviceProp found{};
  HEARTH_CUDA(cudaGetDeviceProperties(&found, device));
  cuda::DeviceProperties result;
  result.name = found.name;
  result.total_memory = found.totalGlobalMem;
  result.multi_processor_count = found.multiProcessorCount;
  result.major = found.major;
  result.minor = found.minor;
  result.max_threads_per_block = found.maxThreadsPerBlock;
  result.warp_size = found.warpSize;
  result.max_threads_per_multi_processor = found.maxThreadsPerMultiProcessor;
  result.regs_per_multiprocessor = found.regsPerMultiprocessor;
  result.shared_memory_per_block = found.sharedMemPerBlock;
  result.shared_memory_per_multiprocessor = found.sharedMemPerMultiprocessor;
  result.L2_cache_size = static_cast<size_t>(found.l2CacheSize);
  return result;
}

void* CudaBackend::allocate(int device, size_t bytes) {
  const CurrentDevice guard(device);
  const RelaxedCapture relaxed;
  void* data = nullptr;
  return out_of_memory(cudaMalloc(&data, bytes), "cudaMalloc") ? nullptr : data;
}

void CudaBackend::free(int device, void* data, size_t) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaFree(data));
}

void CudaBackend::memory_info(int device, size_t& free_bytes, size_t& total_bytes) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
}

void* CudaBackend::allocate_pinned(size_t bytes) {
  check_not_forked();
  const RelaxedCapture relaxed;
  void* data = nullptr;
  const cudaError_t error = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  return out_of_memory(error, "cudaHostAlloc") ? nullptr : data;
}

void CudaBackend::free_pinned(void* data) {
  check_not_forked();
  HEARTH_CUDA(cudaFreeHost(data));
}

Backend::Reach CudaBackend::reach_of(const void* data) {
  check_not_forked();
  cudaPointerAttributes attributes{};
  HEARTH_CUDA(cudaPointerGetAttributes(&attributes, data));
  switch (attributes.type) {
    case cudaMemoryTypeDevice: return {false, attributes.device};
    case cudaMemoryTypeHost:
    case cudaMemoryTypeManaged: return {true, attributes.device};
    default: return {};
  }
}

NativeStream* CudaBackend::add_stream(int device, cudaStream_t stream) {
  DeviceState& state = devices_[static_cast<size_t>(device)];
  const RelaxedCapture relaxed;
  void* slot = nullptr;
  HEARTH_CUDA(cudaHostAlloc(&slot, sizeof(FaultSlot), cudaHostAllocPortable | cudaHostAllocMapped));
  state.streams.push_back(std::make_unique<NativeStream>(
      NativeStream{stream, device, state.multi_processors, new (slot) FaultSlot}));
  return state.streams.back().get();
}

StreamHandle CudaBackend::default_stream(int device) {
  DeviceState& state = devices_[static_cast<size_t>(device)];
  const std::lock_guard lock(state.mutex);
  if (state.streams.empty()) {
    const CurrentDevice guard(device);
    add_stream(device, nullptr);
  }
  return state.streams.front().get();
}

StreamHandle CudaBackend::create_stream(int device, int priority) {
  default_stream(device);
  const CurrentDevice guard(device);
  cudaStream_t stream = nullptr;
  HEARTH_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
  const std::lock_guard lock(devices_[static_cast<size_t>(device)].mutex);
  return add_stream(device, stream);
}

void* CudaBackend::native_stream(StreamHandle stream) const { return native(stream); }

bool CudaBackend::query(int device, StreamHandle stream) {
  const CurrentDevice guard(device);
  return is_ready(cudaStreamQuery(native(stream)), "cudaStreamQuery");
}

void CudaBackend::synchronize(int device, StreamHandle stream) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaStreamSynchronize(native(stream)));
}

void CudaBackend::synchronize_device(int device) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaDeviceSynchronize());
}

FaultSlot* CudaBackend::fault_slot(int, StreamHandle stream) {
  return static_cast<const NativeStream*>(stream)->faults;
}

EventHandle CudaBackend::create_event(int device, bool timing) {
  const CurrentDevice guard(device);
  cudaEvent_t event = nullptr;
  HEARTH_CUDA(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming));
  return event;
}

void CudaBackend::destroy_event(EventHandle event) {
  if (!is_child) cudaEventDestroy(native_event(event));  // ignores errors of earlier kernels
}

void CudaBackend::record(EventHandle event, int device, StreamHandle stream) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaEventRecord(native_event(event), native(stream)));
}

void CudaBackend::wait(int device, StreamHandle stream, EventHandle event) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaStreamWaitEvent(native(stream), native_event(event), 0));
}

bool CudaBackend::query(EventHandle event) {
  check_not_forked();
  return is_ready(cudaEventQuery(native_event(event)), "cudaEventQuery");
}

void CudaBackend::synchronize(EventHandle event) {
  check_not_forked();
  HEARTH_CUDA(cudaEventSynchronize(native_event(event)));
}

float CudaBackend::elapsed_ms(EventHandle start, EventHandle end) {
  check_not_forked();
  float milliseconds = 0;
  HEARTH_CUDA(cudaEventElapsedTime(&milliseconds, native_event(start), native_event(end)));
  return milliseconds;
}

void CudaBackend::begin_capture(int device, StreamHandle stream, CaptureMode mode) {
  const CurrentDevice guard(device);
  HEARTH_CUDA(cudaStreamBeginCapture(native(stream), native_mode(mode)));
}

bool CudaBackend::is_capturing(int device, StreamHandle stream) {
  const CurrentDevice guard(device);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  HEARTH_CUDA(cudaStreamIsCapturing(native(stream), &status));
  return status != cudaStreamCaptureStatusNone;
}

CapturedGraph CudaBackend::end_capture(int device, StreamHandle stream) {
  const CurrentDevice guard(device);
  cudaGraph_t graph = nullptr;
  HEARTH_CUDA(cudaStreamEndCapture(native(stream), &graph));
  HEARTH_CHECK(graph != nullptr, "Invalid capture.");
  CapturedGraph result;
  cudaGraphExec_t exec = nullptr;
  cudaError_t error = cudaGraphGetNodes(graph, nullptr, &result.num_nodes);
  if (error == cudaSuccess) error = cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);  // ignores errors: `error` is the one to report
  if (error != cudaSuccess) fail_cuda(error, "cudaGraphInstantiate");
  result.handle = exec;
  return result;
}

void CudaBackend::launch(GraphHandle graph, int device, StreamHandle stream) {
  const CurrentDevice guard(device);
  const LaunchNumber number;
  HEARTH_CUDA(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), native(stream)));
}

void CudaBackend::destroy_graph(GraphHandle graph) {
  if (!is_child) HEARTH_CUDA(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)));
}

void CudaBackend::copy(void* to, const void* from, size_t bytes, CopyKind kind, int device,
                       StreamHandle stream) {
  if (bytes == 0) return;
  const CurrentDevice guard(device);
  const LaunchNumber number;
  HEARTH_CUDA(cudaMemcpyAsync(to, from, bytes, native_kind(kind), native(stream)));
  if (kind == CopyKind::kDeviceToDevice) return;
  const void* host = kind == CopyKind::kHostToDevice ? from : to;
  if (!is_page_locked(host)) HEARTH_CUDA(cudaStreamSynchronize(native(stream)));
}

bool CudaBackend::can_access_peer(int device, int peer) {
  check_not_forked();
  int can_access = 0;
  HEARTH_CUDA(cudaDeviceCanAccessPeer(&can_access, device, peer));
  return can_access != 0;
}

/// Enables a device's access to another one's memory if possible; otherwise the driver copies
/// between them through the host.
void CudaBackend::enable_peer_access(int device, int peer) {
  if (device == peer) return;
  const std::lock_guard lock(peers_mutex_);
  if (!peers_.insert({device, peer}).second) return;
  const CurrentDevice guard(device);
  if (!can_access_peer(device, peer)) return;
  const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
  cudaGetLastError();  // access may be enabled already, and without it copies are only slower
  if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled &&
      error != cudaErrorTooManyPeers)
    fail_cuda(error, "cudaDeviceEnablePeerAccess");
}

void CudaBackend::copy_peer(void* to, int to_device, const void* from, int from_device,
                            size_t bytes, StreamHandle from_stream) {
  if (bytes == 0) return;
  enable_peer_access(from_device, to_device);
  const CurrentDevice guard(from_device);
  const LaunchNumber number;
  HEARTH_CUDA(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, native(from_stream)));
}

void CudaBackend::set_zero(void* data, size_t bytes, int device, StreamHandle stream) {
  if (bytes == 0) return;
  const CurrentDevice guard(device);
  const LaunchNumber number;
  HEARTH_CUDA(cudaMemsetAsync(data, 0, bytes, native(stream)));
}

void CudaBackend::run_kernel(const ParamsType& type, const void* params, Ctx& ctx) {
  const CurrentDevice guard(stream_of(ctx).device);
  const LaunchNumber number;
  kernels().kernels[static_cast<int>(type.id)](params, ctx);
  check_launch(type.name);
}

void* CudaBackend::allocate_scratch(size_t bytes, Ctx& ctx) {
  return device_allocate(ctx.device(), bytes, ctx.stream());
}

void CudaBackend::free_scratch(void* data, size_t, Ctx& ctx) {
  device_free(ctx.device(), data, ctx.stream());  // on its own stream: needs no event, never fails
}

void CudaBackend::record_activities(ActivitySink* sink) { record_with_cupti(sink); }

const RangeMarker* CudaBackend::range_marker() const { return nvtx_marker(); }

}  // namespace hearth::cuda
