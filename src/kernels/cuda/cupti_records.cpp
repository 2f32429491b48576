#include "kernels/cuda/cupti_records.h"

#ifdef HEARTH_HAS_CUPTI

#include "hearth/demangle.h"
#include "hearth/error.h"

namespace hearth::cuda {

namespace {

using Clock = DeviceActivity::Clock;

/// "libcupti.so.13", of the toolkit that the plugin was built with.
const char* library_name() {
  static const std::string& name =
      *new std::string("libcupti.so." + std::to_string(CUDA_VERSION / 1000));
  return name.c_str();
}

Clock::time_point time_of(uint64_t ns) {
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(
      std::chrono::nanoseconds(static_cast<int64_t>(ns))));
}

const char* memory_name(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE: return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY: return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED: return "Managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC: return "Device Static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC: return "Managed Static";
    default: return "Unknown";
  }
}

const char* direction_name(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return "HtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return "AtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA: return "AtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD: return "AtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA: return "DtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "PtoP";
    default: return "Unknown";
  }
}

/// "Memcpy HtoD (Pinned -> Device)".
template <class Copy>
std::string copy_name(const Copy& copy) {
  return detail::str("Memcpy ", direction_name(copy.copyKind), " (", memory_name(copy.srcKind),
                     " -> ", memory_name(copy.dstKind), ")");
}

}  // namespace

Cupti::Cupti() : file(library_name()) {
#define HEARTH_FIND(name) file.find(#name, name);
  HEARTH_CUPTI_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
}

const Cupti& cupti() {
  static const Cupti& once = *new Cupti;
  return once;
}

std::string error_text(CUptiResult result, const char* call) {
  const char* text = nullptr;
  cupti().cuptiGetResultString(result, &text);
  return detail::str("CUPTI error: ", text ? text : "unknown", " in ", call);
}

void check_cupti(CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw Error(error_text(result, call));
}

size_t num_dropped_records(CUcontext context, uint32_t stream) {
  size_t count = 0;
  const CUptiResult result = cupti().cuptiActivityGetNumDroppedRecords(context, stream, &count);
  return result == CUPTI_SUCCESS ? count : 0;
}

Recording& recording() {
  static Recording& once = *new Recording;
  return once;
}

/// Adds an activity from the fields that all records share.
template <class Record>
void Recording::add(const Record& record, DeviceActivity::Kind kind, const std::string& name,
                    uint64_t bytes) {
  DeviceActivity activity;
  activity.kind = kind;
  activity.name = names.insert(name).first->c_str();
  activity.device = static_cast<int>(record.deviceId);
  // + 1, so that stream 0 is not null.
  activity.stream = reinterpret_cast<const void*>(uintptr_t{record.streamId} + 1);
  activity.start = time_of(record.start);
  activity.end = time_of(record.end);
  activity.bytes = bytes;
  pending.push_back({activity, record.correlationId});
}

void Recording::add(const CUpti_Activity* record) {
  using Kind = DeviceActivity::Kind;
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& launch = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      if (launch.externalKind == kLaunch) launches[launch.correlationId] = launch.externalId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      add(kernel, Kind::kKernel, kernel.name ? demangle(kernel.name) : "unknown kernel", 0);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      add(copy, Kind::kCopy, copy_name(copy), copy.bytes);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      add(copy, Kind::kCopy, copy_name(copy), copy.bytes);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      add(fill, Kind::kFill, detail::str("Memset (", memory_name(fill.memoryKind), ")"),
          fill.bytes);
      break;
    }
    default: break;
  }
}

void Recording::add_buffer(uint8_t* buffer, size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  for (;;) {
    const CUptiResult result = cupti().cuptiActivityGetNextRecord(buffer, valid_bytes, &record);
    if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) return;  // the end of the buffer
    if (result != CUPTI_SUCCESS)
      return problems.push_back(error_text(result, "cuptiActivityGetNextRecord"));
    add(record);
  }
}

std::string Recording::problem_text() const {
  std::string text;
  for (const std::string& problem : problems)
    if (text.find(problem) == std::string::npos) text += (text.empty() ? "" : "; ") + problem;
  if (num_dropped > 0)
    text += detail::str(text.empty() ? "" : "; ", "CUPTI dropped ", num_dropped, " records");
  return text;
}

}  // namespace hearth::cuda

#endif
