#include "kernels/cuda/cupti.h"

#include <atomic>
#include <string>

#include "hearth/error.h"

#if __has_include(<cupti.h>)
#include <cupti.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "hearth/demangle.h"
#include "kernels/cuda/library_file.h"
#define HEARTH_HAS_CUPTI 1
#endif

namespace hearth::cuda {

#ifdef HEARTH_HAS_CUPTI

namespace {

#define HEARTH_CUPTI_FUNCTIONS(X)           \
  X(cuptiActivityRegisterCallbacks)         \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityEnable)                    \
  X(cuptiActivityDisable)                   \
  X(cuptiActivityFlushAll)                  \
  X(cuptiActivityGetNextRecord)             \
  X(cuptiActivityPushExternalCorrelationId) \
  X(cuptiActivityPopExternalCorrelationId)  \
  X(cuptiGetResultString)

/// The kinds of records: the calls of the runtime and the driver are needed for the numbers of
/// launches.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constexpr CUpti_ExternalCorrelationKind kLaunch = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr size_t kBufferBytes = size_t{1} << 20, kAlignment = 8;

using Clock = DeviceActivity::Clock;

/// "libcupti.so.13", of the toolkit that the plugin was built with.
const char* library_name() {
  static const std::string& name =
      *new std::string("libcupti.so." + std::to_string(CUDA_VERSION / 1000));
  return name.c_str();
}

struct Cupti {
  LibraryFile file{library_name()};
#define HEARTH_MEMBER(name) decltype(&::name) name = nullptr;
  HEARTH_CUPTI_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER

  Cupti() {
#define HEARTH_FIND(name) file.find(#name, name);
    HEARTH_CUPTI_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  }
};

Cupti& cupti() {
  static Cupti& once = *new Cupti;
  return once;
}

void check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cupti().cuptiGetResultString(result, &text);
  detail::fail<Error>("CUPTI error: ", text ? text : "unknown", " in ", call);
}

/// The activities of a recording, until the numbers of their launches are known.
struct Recording {
  struct Pending {
    DeviceActivity activity;
    uint32_t correlation;
  };
  std::mutex mutex;
  std::vector<Pending> pending;
  std::map<uint32_t, uint64_t> launches;  // by CUPTI's number of the call
  std::set<std::string> names;            // never erased: activities point to them
};

Recording& recording() {
  static Recording& once = *new Recording;
  return once;
}

Clock::time_point time_of(uint64_t ns) {
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(
      std::chrono::nanoseconds(static_cast<int64_t>(ns))));
}

const char* memory_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED: return "Managed";
    default: return "Device";
  }
}

const char* direction_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "HtoH";
    default: return "DtoD";
  }
}

/// Adds an activity from the fields that all records share. The recording's mutex is held.
template <class Record>
void add(const Record& record, DeviceActivity::Kind kind, const std::string& name, uint32_t device,
         uint64_t bytes) {
  DeviceActivity activity;
  activity.kind = kind;
  activity.name = recording().names.insert(name).first->c_str();
  activity.device = static_cast<int>(device);
  activity.stream = reinterpret_cast<const void*>(uintptr_t{record.streamId} + 1);
  activity.start = time_of(record.start);
  activity.end = time_of(record.end);
  activity.bytes = bytes;
  recording().pending.push_back({activity, record.correlationId});
}

void add_record(const CUpti_Activity* record) {
  using Kind = DeviceActivity::Kind;
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& launch = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      if (launch.externalKind == kLaunch)
        recording().launches[launch.correlationId] = launch.externalId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      add(kernel, Kind::kKernel, demangle(kernel.name), kernel.deviceId, 0);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      add(copy, Kind::kCopy,
          detail::str("Memcpy ", direction_name(copy.copyKind), " (", memory_name(copy.srcKind),
                      " -> ", memory_name(copy.dstKind), ")"),
          copy.deviceId, copy.bytes);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      add(copy, Kind::kCopy, "Memcpy PtoP (Device -> Device)", copy.deviceId, copy.bytes);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      add(fill, Kind::kFill, "Memset (Device)", fill.deviceId, fill.bytes);
      break;
    }
    default: break;
  }
}

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;  // without a buffer, CUPTI drops the records
  *max_records = 0;
}

void CUPTIAPI complete_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  const std::lock_guard lock(recording().mutex);
  CUpti_Activity* record = nullptr;
  while (cupti().cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    add_record(record);
  std::free(buffer);
}

uint64_t CUPTIAPI now() {
  return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

std::atomic<ActivitySink*> current_sink{nullptr};

void begin(ActivitySink* sink) {
  static const bool registered = [] {
    check(cupti().cuptiActivityRegisterCallbacks(&request_buffer, &complete_buffer),
          "cuptiActivityRegisterCallbacks");
    check(cupti().cuptiActivityRegisterTimestampCallback(&now),
          "cuptiActivityRegisterTimestampCallback");
    return true;
  }();
  (void)registered;
  current_sink.store(sink);
  for (const CUpti_ActivityKind kind : kKinds)
    check(cupti().cuptiActivityEnable(kind), "cuptiActivityEnable");
}

void end() {
  ActivitySink* const sink = current_sink.exchange(nullptr);
  if (!sink) return;
  for (const CUpti_ActivityKind kind : kKinds) cupti().cuptiActivityDisable(kind);
  const CUptiResult flushed = cupti().cuptiActivityFlushAll(0);
  Recording& state = recording();
  const std::lock_guard lock(state.mutex);
  for (Recording::Pending& pending : state.pending) {
    const auto launch = state.launches.find(pending.correlation);
    if (launch != state.launches.end()) pending.activity.launch = launch->second;
    sink->add(pending.activity);
  }
  state.pending.clear();
  state.launches.clear();
  check(flushed, "cuptiActivityFlushAll");
}

}  // namespace

void record_with_cupti(ActivitySink* sink) try {
  if (!sink) return end();
  const std::string& why_not = cupti().file.why_not();
  HEARTH_CHECK(why_not.empty(), "CUPTI could not be opened: ", why_not);
  begin(sink);
} catch (const Error& error) {
  if (sink) current_sink.store(nullptr);
  warn(std::string("the profile lacks the work of GPUs: ") + error.msg());
}

LaunchNumber::LaunchNumber() {
  ActivitySink* const sink = current_sink.load(std::memory_order_relaxed);
  if (!sink) [[likely]]
    return;
  is_set_ = cupti().cuptiActivityPushExternalCorrelationId(kLaunch, sink->number_of_launch()) ==
            CUPTI_SUCCESS;
}

LaunchNumber::~LaunchNumber() {
  if (is_set_) cupti().cuptiActivityPopExternalCorrelationId(kLaunch, nullptr);
}

#else

void record_with_cupti(ActivitySink* sink) {
  if (sink) warn("the profile has no work of GPUs: the CUDA plugin was built without CUPTI");
}

LaunchNumber::LaunchNumber() = default;
LaunchNumber::~LaunchNumber() = default;

#endif

}  // namespace hearth::cuda
