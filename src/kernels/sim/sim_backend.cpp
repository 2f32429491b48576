// Simulated GPUs: the CPU's kernels run on the thread of a stream (stream.cpp) with the accessible
// addresses of device memory (memory.cpp). The parameters of a kernel and pageable host memory are
// copied when work is submitted, as on a GPU. After a kernel has failed, the stream skips the next
// ones until the host has received the error.
#include "kernels/sim/sim_backend.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/device_allocator.h"
#include "core/process_end.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "kernels/sim/access.h"
#include "seam/sim.h"

namespace hearth::sim {

namespace {

constexpr std::align_val_t kPinnedAlignment{4096};

Stream& as_stream(StreamHandle handle) { return *static_cast<Stream*>(handle); }
Event& as_event(EventHandle handle) { return *static_cast<Event*>(handle); }

/// Throws, and makes the capture fail, if the event is part of one.
void check_not_captured(const Event& event) {
  if (!event.is_captured()) return;
  event.mark->capture->invalidate();
  detail::fail<Error>(
      "CUDA error: operation not permitted on an event last recorded in a capturing stream");
}

/// Waits for a stream's work up to a position; throws an Error if it failed or was dropped.
void finish(Stream& stream, uint64_t position) {
  stream.check_not_capturing();
  stream.wait_for(position);
  stream.rethrow();
  stream.wait_for_results(position);
}
void finish(Stream& stream) { finish(stream, stream.last_position()); }

/// Never destroyed, because static objects may own tensors.
SimBackend* process_backend = nullptr;

void stop_threads() {
  if (process_backend) process_backend->stop();
}

/// The name of a copy, as CUDA's tools print it.
const char* copy_name(CopyKind kind, bool pinned) {
  switch (kind) {
    case CopyKind::kHostToDevice:
      return pinned ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Pageable -> Device)";
    case CopyKind::kDeviceToHost:
      return pinned ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy DtoH (Device -> Pageable)";
    default: return "Memcpy DtoD (Device -> Device)";
  }
}

DeviceActivity activity_of(DeviceActivity::Kind kind, const char* name, int device,
                           size_t bytes = 0) {
  DeviceActivity activity;
  activity.kind = kind;
  activity.name = name;
  activity.device = device;
  activity.bytes = bytes;
  return activity;
}

/// A copy of a kernel's parameters, kept until the kernel has run.
class ParamsCopy {
 public:
  ParamsCopy(const ParamsType& type, const void* params)
      : type_(type), data_(::operator new(type.size, std::align_val_t(type.align))) {
    try {
      type_.copy(data_, params);
    } catch (...) {
      release();
      throw;
    }
  }
  ~ParamsCopy() {
    type_.destroy(data_);
    release();
  }
  ParamsCopy(const ParamsCopy&) = delete;
  ParamsCopy& operator=(const ParamsCopy&) = delete;
  const void* get() const { return data_; }

 private:
  void release() { ::operator delete(data_, type_.size, std::align_val_t(type_.align)); }
  const ParamsType& type_;
  void* data_;
};

}  // namespace

SimBackend::SimBackend(const Config& config) : config_(config) {
  for (int i = 0; i < config.devices; ++i)
    devices_.push_back(std::make_unique<DeviceState>(config));
}

SimBackend::~SimBackend() { stop(); }

uint64_t SimBackend::submit(DeviceActivity activity, StreamHandle stream,
                            std::function<void()> work) {
  if (const auto capture = as_stream(stream).capture()) {
    capture->add(as_stream(stream), activity, std::move(work));
    return 0;
  }
  ActivitySink* const sink = sink_.load();
  if (!sink) [[likely]]
    return as_stream(stream).submit(std::move(work));
  activity.stream = stream;
  activity.event = sink->current_event();
  return as_stream(stream).submit([sink, activity, work = std::move(work)]() mutable {
    activity.start = DeviceActivity::Clock::now();
    work();
    activity.end = DeviceActivity::Clock::now();
    sink->add(activity);
  });
}

void SimBackend::stop() {
  if (is_forked_child()) return;
  std::vector<Stream*> streams;
  for (int i = 0; i < device_count(); ++i)
    for (Stream* stream : streams_of(i)) streams.push_back(stream);
  // Two passes, because a stream's thread may be waiting for another stream.
  for (Stream* stream : streams) stream->request_stop();
  for (Stream* stream : streams) stream->join();
}

cuda::DeviceProperties SimBackend::properties(int device) const {
  cuda::DeviceProperties result;
  result.name = "Simulated GPU " + std::to_string(device);
  result.total_memory = state(device).memory.total_bytes();
  result.multi_processor_count = 1;
  result.max_threads_per_block = 1024;
  result.max_threads_per_multi_processor = 2048;
  result.regs_per_multiprocessor = 65536;
  result.shared_memory_per_block = size_t{48} << 10;
  result.shared_memory_per_multiprocessor = size_t{164} << 10;
  return result;
}

void* SimBackend::allocate(int device, size_t bytes) {
  return state(device).memory.allocate(bytes);
}

void SimBackend::free(int device, void* data, size_t bytes) {
  for (Stream* stream : streams_of(device)) stream->check_not_capturing();
  wait_until_idle(device);
  state(device).memory.free(data, bytes);
}

void SimBackend::memory_info(int device, size_t& free_bytes, size_t& total_bytes) {
  DeviceState& owner = state(device);
  const size_t free = owner.memory.free_bytes();
  free_bytes = free - std::min(free, owner.scratch.bytes_in_use());
  total_bytes = owner.memory.total_bytes();
}

void* SimBackend::allocate_pinned(size_t bytes) {
  auto* const data = static_cast<std::byte*>(::operator new(bytes, kPinnedAlignment, std::nothrow));
  if (!data) return nullptr;
  const std::lock_guard lock(pinned_mutex_);
  pinned_[data] = bytes;
  return data;
}

void SimBackend::free_pinned(void* data) {
  {
    const std::lock_guard lock(pinned_mutex_);
    pinned_.erase(static_cast<std::byte*>(data));
  }
  ::operator delete(data, kPinnedAlignment);
}

bool SimBackend::is_pinned(const void* data) {
  const auto* const address = static_cast<const std::byte*>(data);
  const std::lock_guard lock(pinned_mutex_);
  auto range = pinned_.upper_bound(address);
  if (range == pinned_.begin()) return false;
  --range;
  return address < range->first + range->second;
}

Backend::Reach SimBackend::reach_of(const void* data) {
  for (int i = 0; i < device_count(); ++i)
    if (state(i).memory.contains(data)) return {false, i};
  return {true, is_pinned(data) ? 0 : Reach::kNoDevice};
}

void* SimBackend::kernel_address(int device, void* data) const {
  return state(device).memory.alias(data);
}

StreamHandle SimBackend::default_stream(int device) { return &state(device).default_stream; }

StreamHandle SimBackend::create_stream(int device, int) {
  DeviceState& owner = state(device);
  const std::lock_guard lock(owner.mutex);
  return owner.other_streams.emplace_back(std::make_unique<Stream>(config_.lazy)).get();
}

std::vector<Stream*> SimBackend::streams_of(int device) {
  check_not_forked();
  DeviceState& owner = state(device);
  std::vector<Stream*> streams{&owner.default_stream};
  const std::lock_guard lock(owner.mutex);
  for (const auto& stream : owner.other_streams) streams.push_back(stream.get());
  return streams;
}

bool SimBackend::query(int, StreamHandle stream) {
  as_stream(stream).check_not_capturing();
  return as_stream(stream).has_passed(as_stream(stream).last_position());
}

void SimBackend::synchronize(int, StreamHandle stream) { finish(as_stream(stream)); }

void SimBackend::wait_until_idle(int device) {
  for (Stream* stream : streams_of(device)) stream->wait_for(stream->last_position());
}

void SimBackend::synchronize_device(int device) {
  for (Stream* stream : streams_of(device)) stream->check_not_capturing();
  wait_until_idle(device);
  for (Stream* stream : streams_of(device)) finish(*stream);
}

FaultSlot* SimBackend::fault_slot(int, StreamHandle stream) { return &as_stream(stream).faults(); }

EventHandle SimBackend::create_event(int, bool timing) { return new Event{timing, nullptr}; }
void SimBackend::destroy_event(EventHandle event) { delete &as_event(event); }

void SimBackend::record(EventHandle event, int, StreamHandle stream) {
  as_event(event).record(as_stream(stream));
}

void SimBackend::wait(int device, StreamHandle stream, EventHandle event) {
  const Event& awaited = as_event(event);
  if (awaited.is_captured() && !as_stream(stream).capture()) {
    HEARTH_CHECK(stream != default_stream(device),
                 "CUDA error: operation would make the legacy stream depend on a capturing "
                 "blocking stream");
    HEARTH_CHECK_AS(NotImplementedError, awaited.mark->capture->device() == device,
                    "A graph has work of one device only");
  }
  awaited.make_wait(as_stream(stream));
}

bool SimBackend::query(EventHandle event) {
  check_not_captured(as_event(event));
  const auto& mark = as_event(event).mark;
  return !mark || mark->stream->has_passed(mark->position);
}

void SimBackend::synchronize(EventHandle event) {
  check_not_captured(as_event(event));
  if (const auto& mark = as_event(event).mark) finish(*mark->stream, mark->position);
}

float SimBackend::elapsed_ms(EventHandle start, EventHandle end) {
  HEARTH_CHECK(as_event(start).timing && as_event(end).timing,
               "Both events must be created with argument 'enable_timing=True': "
               "cuda::Event(/*enable_timing=*/true).");
  HEARTH_CHECK(as_event(start).mark && as_event(end).mark,
               "Both events must be recorded before calculating elapsed time.");
  const std::chrono::duration<float, std::milli> time =
      as_event(end).mark->time - as_event(start).mark->time;
  return time.count();
}

void SimBackend::copy(void* to, const void* from, size_t bytes, CopyKind kind, int device,
                      StreamHandle stream) {
  if (bytes == 0) return;
  const Memory& memory = state(device).memory;
  const bool pinned = kind == CopyKind::kHostToDevice   ? is_pinned(from)
                      : kind == CopyKind::kDeviceToHost ? is_pinned(to)
                                                        : false;
  if (kind != CopyKind::kDeviceToDevice && !pinned) as_stream(stream).check_not_capturing();
  const DeviceActivity activity =
      activity_of(DeviceActivity::Kind::kCopy, copy_name(kind, pinned), device, bytes);
  if (kind == CopyKind::kHostToDevice && !pinned) {
    const auto* const first = static_cast<const std::byte*>(from);
    submit(activity, stream,
           [host = std::vector<std::byte>(first, first + bytes), target = memory.alias(to)] {
             std::memcpy(target, host.data(), host.size());
           });
    return;
  }
  const uint64_t position =
      submit(activity, stream, [target = memory.alias(to), source = memory.alias(from), bytes] {
        std::memmove(target, source, bytes);
      });
  if (kind == CopyKind::kDeviceToHost && !pinned) finish(as_stream(stream), position);
}

void SimBackend::copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                           StreamHandle from_stream) {
  if (bytes == 0) return;
  submit(activity_of(DeviceActivity::Kind::kCopy, "Memcpy PtoP (Device -> Device)", from_device,
                     bytes),
         from_stream,
         [target = kernel_address(to_device, to), source = state(from_device).memory.alias(from),
          bytes] { std::memmove(target, source, bytes); });
}

void SimBackend::set_zero(void* data, size_t bytes, int device, StreamHandle stream) {
  if (bytes == 0) return;
  submit(activity_of(DeviceActivity::Kind::kFill, "Memset (Device)", device, bytes), stream,
         [target = kernel_address(device, data), bytes] { std::memset(target, 0, bytes); });
}

void SimBackend::run_kernel(const ParamsType& type, const void* params, Ctx& ctx) {
  const KernelFn kernel = kernels().kernels[static_cast<int>(type.id)];
  submit(activity_of(DeviceActivity::Kind::kKernel, type.name, ctx.device().index()), ctx.stream(),
         [this, kernel, device = ctx.device(), numerics = ctx.numerics(),
          copy = std::make_shared<ParamsCopy>(type, params)] {
           Stream& stream = Stream::running();  // a graph may run in any stream
           // The inputs of this kernel may be results that a failed kernel did not compute.
           if (stream.has_failed()) return;
           Ctx kernel_ctx(*this, device, &stream, &stream.faults(), numerics);
           kernel(copy->get(), kernel_ctx);
         });
}

/// Returns the bytes of the device's memory that tensors do not use; cached memory counts as
/// unused. Only the process's backend has a device_allocator().
size_t SimBackend::scratch_limit(int device) {
  Memory& memory = state(device).memory;
  if (cuda_backend_in_use() != this) return memory.free_bytes();
  const Device gpu(DeviceType::CUDA, static_cast<DeviceIndex>(device));
  return memory.total_bytes() -
         std::min(memory.total_bytes(), device_allocator(gpu).active_bytes());
}

void* SimBackend::allocate_scratch(size_t bytes, Ctx& ctx) {
  const int device = ctx.device().index();
  return state(device).scratch.allocate(bytes, scratch_limit(device));
}

void SimBackend::free_scratch(void* data, size_t bytes, Ctx& ctx) {
  Stream& stream = as_stream(ctx.stream());
  Scratch& scratch = state(ctx.device().index()).scratch;
  if (stream.is_running_caller())
    scratch.free(data, bytes);
  else
    stream.submit([&scratch, data, bytes] { scratch.free(data, bytes); });
}

void SimBackend::explain_accesses() const {
  for (const auto& device : devices_)
    explain_access(device->memory.begin(), device->memory.total_bytes());
}

Backend* backend_from_environment() {
  const Config config = config_from_environment();
  if (config.devices == 0) return nullptr;
  process_backend = new SimBackend(config);
  process_backend->explain_accesses();
  stop_at_process_end(stop_threads);
  return process_backend;
}

}  // namespace hearth::sim
