#include "kernels/cuda/cupti.h"

#include <atomic>
#include <string>

#include "hearth/error.h"
#include "kernels/cuda/cupti_records.h"

#ifdef HEARTH_HAS_CUPTI
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>
#endif

namespace hearth::cuda {

#ifdef HEARTH_HAS_CUPTI

namespace {

/// The kinds of records: the calls of the runtime and the driver are needed for the numbers of
/// launches.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constexpr size_t kBufferBytes = size_t{1} << 20, kAlignment = 8;

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;  // without a buffer, CUPTI drops the records
  *max_records = 0;
}

void CUPTIAPI complete_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                              size_t valid_bytes) {
  Recording& state = recording();
  {
    const std::lock_guard lock(state.mutex);
    try {
      if (state.is_on) state.add_buffer(buffer, valid_bytes);
    } catch (const std::bad_alloc&) {  // CUPTI, which calls this function, knows no exceptions
      ++state.num_dropped;
    }
    state.num_dropped += num_dropped_records(context, stream);
  }
  std::free(buffer);
}

uint64_t CUPTIAPI now() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(DeviceActivity::Clock::now().time_since_epoch()).count());
}

std::atomic<ActivitySink*> current_sink{nullptr};
std::atomic<CUptiResult> push_result{CUPTI_SUCCESS};  // the last error of this recording

/// Forgets the former recording, and takes or drops the records that arrive from now on.
void reset(bool is_on) {
  Recording& state = recording();
  const std::lock_guard lock(state.mutex);
  state.is_on = is_on;
  state.pending.clear();
  state.launches.clear();
  state.problems.clear();
  state.num_dropped = 0;
}

/// Switches the kinds on; if one fails, switches those before it off again and throws.
void enable_kinds() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    const CUptiResult result = cupti().cuptiActivityEnable(kKinds[i]);
    if (result == CUPTI_SUCCESS) continue;
    for (size_t j = 0; j < i; ++j) cupti().cuptiActivityDisable(kKinds[j]);
    check_cupti(result, "cuptiActivityEnable");
  }
}

void begin(ActivitySink* sink) {
  static const bool registered = [] {
    check_cupti(cupti().cuptiActivityRegisterCallbacks(&request_buffer, &complete_buffer),
                "cuptiActivityRegisterCallbacks");
    check_cupti(cupti().cuptiActivityRegisterTimestampCallback(&now),
                "cuptiActivityRegisterTimestampCallback");
    return true;
  }();
  (void)registered;
  reset(true);
  try {
    enable_kinds();
  } catch (const Error&) {
    reset(false);
    throw;
  }
  push_result.store(CUPTI_SUCCESS);
  current_sink.store(sink);
}

/// Switches the kinds off and fetches all records; adds the errors to the recording's problems.
void disable_kinds() {
  const auto note = [](CUptiResult result, const char* call) {
    if (result == CUPTI_SUCCESS) return;
    const std::lock_guard lock(recording().mutex);
    recording().problems.push_back(error_text(result, call));
  };
  for (const CUpti_ActivityKind kind : kKinds)
    note(cupti().cuptiActivityDisable(kind), "cuptiActivityDisable");
  note(cupti().cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
  note(push_result.load(), "cuptiActivityPushExternalCorrelationId");
  const size_t num_dropped = num_dropped_records(nullptr, 0);
  const std::lock_guard lock(recording().mutex);
  recording().num_dropped += num_dropped;
}

void end() {
  ActivitySink* const sink = current_sink.exchange(nullptr);
  if (!sink) return;
  disable_kinds();
  Recording& state = recording();
  std::vector<Recording::Pending> arrived;
  std::string problems;
  {
    const std::lock_guard lock(state.mutex);
    for (Recording::Pending& pending : state.pending) {
      const auto launch = state.launches.find(pending.correlation);
      if (launch != state.launches.end()) pending.activity.event = launch->second;
    }
    arrived.swap(state.pending);
    problems = state.problem_text();
  }
  reset(false);
  for (const Recording::Pending& each : arrived) sink->add(each.activity);
  if (!problems.empty()) warn("the profile lacks work of GPUs, or its operators: " + problems);
}

}  // namespace

void record_with_cupti(ActivitySink* sink) {
  if (!sink) return end();
  std::string why_not = cupti().file.why_not();
  if (!why_not.empty()) {
    why_not = "CUPTI could not be opened: " + why_not;
  } else {
    try {
      return begin(sink);
    } catch (const Error& error) {
      why_not = error.msg();
    }
  }
  warn("the profile lacks the work of GPUs: " + why_not);
}

LaunchNumber::LaunchNumber() {
  ActivitySink* const sink = current_sink.load(std::memory_order_relaxed);
  if (!sink) [[likely]]
    return;
  const CUptiResult result =
      cupti().cuptiActivityPushExternalCorrelationId(kLaunch, sink->current_event());
  is_set_ = result == CUPTI_SUCCESS;
  if (!is_set_) push_result.store(result);
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
