#include "core/backends.h"
#include "core/device_allocator.h"
#include "core/device_context.h"
#include "core/streams.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "hearth/generator.h"

namespace hearth::cuda {

namespace {

/// Returns the CUDA device of this index (-1: the current one); throws if it does not exist.
Device cuda_device(int index) {
  return {DeviceType::CUDA, static_cast<DeviceIndex>(cuda_index(index))};
}

/// Returns the device's statistics; all zero without a GPU, so that queries do not fail.
MemoryStats stats_or_zeros(int device) {
  return is_available() ? memory_stats(device) : MemoryStats();
}

void reseed(Device device, uint64_t seed) {
  Generator generator = default_generator(device);
  generator.set_current_seed(seed);
}

}  // namespace

bool is_available() { return device_count() > 0; }
std::string why_not() { return why_no_cuda(); }

int device_count() { return cuda_device_count(); }

int current_device() { return cuda_index(-1); }
void set_device(Device device) { current_cuda_device() = static_cast<int8_t>(cuda_index(device)); }
void set_device(int index) { set_device(cuda_device(index)); }
std::string get_device_name(int device) { return get_device_properties(device).name; }

DeviceProperties get_device_properties(int device) {
  return require_cuda().properties(cuda_index(device));
}

bool can_device_access_peer(int device, int peer_device) {
  const int peer = cuda_index(peer_device);
  return require_cuda().can_access_peer(cuda_index(device), peer);
}

void synchronize(int device) { synchronize_device(cuda_index(device)); }

void manual_seed(uint64_t seed) {
  if (is_available()) reseed(cuda_device(-1), seed);
}
void manual_seed_all(uint64_t seed) {
  for (int i = 0; i < device_count(); ++i) reseed(cuda_device(i), seed);
}
bool cudnn_is_available() { return is_available() && require_cuda().has_cudnn(); }

size_t memory_allocated(int device) {
  return static_cast<size_t>(stats_or_zeros(device).allocated_bytes.current);
}
size_t max_memory_allocated(int device) {
  return static_cast<size_t>(stats_or_zeros(device).allocated_bytes.peak);
}
size_t memory_reserved(int device) {
  return static_cast<size_t>(stats_or_zeros(device).reserved_bytes.current);
}
size_t max_memory_reserved(int device) {
  return static_cast<size_t>(stats_or_zeros(device).reserved_bytes.peak);
}

MemoryStats memory_stats(int device) { return device_allocator(cuda_device(device)).stats(); }
void reset_peak_memory_stats(int device) { device_allocator(cuda_device(device)).reset_peak(); }

void empty_cache() {
  for (int i = 0; i < device_count(); ++i) device_allocator(cuda_device(i)).empty_cache();
}

void* caching_allocator_alloc(size_t bytes, int device) {
  const Device on = cuda_device(device);
  return device_allocator(on).allocate(bytes, hearth::current_stream(on));
}

void caching_allocator_delete(void* data) {
  if (!data) return;
  const int device = require_cuda().reach_of(data).device;
  HEARTH_CHECK(device >= 0, "invalid device pointer: the memory is not a GPU's");
  device_allocator(cuda_device(device)).free(data);
}

std::string memory_summary(int device, bool abbreviated) {
  return hearth::memory_summary(cuda_device(device), abbreviated);
}

void set_per_process_memory_fraction(double fraction, int device) {
  HEARTH_CHECK_AS(ValueError, fraction >= 0 && fraction <= 1, "Invalid fraction value: ", fraction,
                  ". Allowed range: 0~1");
  const Device checked = cuda_device(device);
  const auto limit = static_cast<size_t>(fraction * double(mem_get_info(device).second));
  DeviceAllocator& allocator = device_allocator(checked);
  allocator.set_limit(fraction == 1 ? SIZE_MAX : limit);
  const size_t held = memory_allocated(device);
  if (fraction < 1 && held > limit)
    warn(detail::str("set_per_process_memory_fraction: tensors on ", checked, " hold ",
                     format_bytes(held), ", more than the new limit of ", format_bytes(limit),
                     "; allocations fail until ", format_bytes(held - limit), " are released"));
}

double get_per_process_memory_fraction(int device) {
  const size_t limit = device_allocator(cuda_device(device)).limit();
  return limit == SIZE_MAX ? 1 : double(limit) / double(mem_get_info(device).second);
}

std::pair<size_t, size_t> mem_get_info(int device) {
  std::pair<size_t, size_t> info;
  require_cuda().memory_info(cuda_index(device), info.first, info.second);
  return info;
}

Stream::Stream(Device device, int priority)
    : device_(cuda_device(cuda_index(device))),
      handle_(stream_from_pool(device_.index(), priority)) {}

Stream::Stream(Device device, void* handle)
    : device_(cuda_device(cuda_index(device))),
      handle_(handle ? handle : require_cuda().default_stream(device_.index())) {}

void Stream::synchronize() const { synchronize_stream(device_.index(), handle_); }
CUstream_st* Stream::stream() const {
  return static_cast<CUstream_st*>(require_cuda().native_stream(handle_));
}
bool Stream::query() const { return require_cuda().query(device_.index(), handle_); }
void Stream::wait_event(const Event& event) const { event.wait(*this); }
void Stream::wait_stream(const Stream& other) const { wait_event(other.record_event()); }

Event Stream::record_event() const {
  Event event;
  event.record(*this);
  return event;
}

Stream current_stream(int device) {
  const Device checked = cuda_device(device);
  return {checked, hearth::current_stream(checked)};
}

Stream default_stream(int device) {
  const Device checked = cuda_device(device);
  return {checked, require_cuda().default_stream(checked.index())};
}

void set_stream(const Stream& stream) { set_current_stream(stream.device(), stream.handle()); }

Event::Event(Event&& other) noexcept
    : timing_(other.timing_), handle_(other.handle_), recorded_(other.recorded_) {
  other.handle_ = nullptr;
  other.recorded_.reset();
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(timing_, other.timing_);
  std::swap(handle_, other.handle_);
  std::swap(recorded_, other.recorded_);
  return *this;
}

Event::~Event() {
  if (handle_) cuda_backend_in_use()->destroy_event(handle_);
}

void Event::record() { record(current_stream()); }

void Event::record(const Stream& stream) {
  Backend& backend = require_cuda();
  if (!handle_) {
    handle_ = backend.create_event(stream.device_index(), timing_);
  } else {
    HEARTH_CHECK(recorded_->device() == stream.device(), "Event device ", recorded_->device_index(),
                 " does not match recording stream's device ", stream.device_index(), ".");
  }
  backend.record(handle_, stream.device_index(), stream.handle());
  recorded_ = stream;
}

void Event::wait() const { wait(current_stream()); }

void Event::wait(const Stream& stream) const {
  if (recorded_) require_cuda().wait(stream.device_index(), stream.handle(), handle_);
}

void Event::synchronize() const {
  if (!recorded_) return;
  require_cuda().synchronize(handle_);
  check_stream_fault(recorded_->device_index(), recorded_->handle());
}

bool Event::query() const { return !recorded_ || require_cuda().query(handle_); }

float Event::elapsed_time(const Event& end) const {
  HEARTH_CHECK(timing_ && end.timing_,
               "Both events must be created with argument 'enable_timing=True': "
               "cuda::Event(/*enable_timing=*/true).");
  HEARTH_CHECK(recorded_ && end.recorded_,
               "Both events must be recorded before calculating elapsed time.");
  HEARTH_CHECK(query() && end.query(),
               "Both events must be completed before calculating elapsed time.");
  return require_cuda().elapsed_ms(handle_, end.handle_);
}

DeviceGuard::DeviceGuard(Device device) : former_(current_device()) { set_device(device); }
DeviceGuard::~DeviceGuard() { current_cuda_device() = static_cast<int8_t>(former_); }

StreamGuard::StreamGuard(const Stream& stream)
    : device_(stream.device()), former_(current_stream(stream.device_index())) {
  set_stream(stream);
}
StreamGuard::~StreamGuard() { set_stream(former_); }

}  // namespace hearth::cuda
