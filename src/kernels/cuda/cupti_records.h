#pragma once

#if __has_include(<cupti.h>)
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/library_file.h"
#include "seam/activity.h"
#define HEARTH_HAS_CUPTI 1

// CUPTI's functions, and the records that it delivers.
namespace hearth::cuda {

#define HEARTH_CUPTI_FUNCTIONS(X)           \
  X(cuptiActivityRegisterCallbacks)         \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityEnable)                    \
  X(cuptiActivityDisable)                   \
  X(cuptiActivityFlushAll)                  \
  X(cuptiActivityGetNextRecord)             \
  X(cuptiActivityGetNumDroppedRecords)      \
  X(cuptiActivityPushExternalCorrelationId) \
  X(cuptiActivityPopExternalCorrelationId)  \
  X(cuptiGetResultString)

/// The kind of the numbers that connect a call of CUDA with its activity.
inline constexpr CUpti_ExternalCorrelationKind kLaunch = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

/// The library, opened by the first call of cupti().
struct Cupti {
  LibraryFile file;
#define HEARTH_MEMBER(name) decltype(&::name) name = nullptr;
  HEARTH_CUPTI_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER

  Cupti();
};

const Cupti& cupti();
/// "CUPTI error: ... in cuptiActivityEnable".
std::string error_text(CUptiResult result, const char* call);
void check_cupti(CUptiResult result, const char* call);
/// The number of records that CUPTI had no memory for, since the last call.
size_t num_dropped_records(CUcontext context, uint32_t stream);

/// The activities of a recording, which wait for the events that launched them.
struct Recording {
  struct Pending {
    DeviceActivity activity;
    uint32_t correlation;
  };
  std::mutex mutex;
  bool is_on = false;  // records that arrive at other times are dropped
  std::vector<Pending> pending;
  std::map<uint32_t, uint64_t> launches;  // DeviceActivity::event, by CUPTI's number of the call
  std::vector<std::string> problems;
  size_t num_dropped = 0;
  std::set<std::string> names;  // never erased: activities point to them

  // The caller of these functions holds the mutex.
  void add(const CUpti_Activity* record);
  /// Adds the records of a buffer; those after one that CUPTI cannot read are lost.
  void add_buffer(uint8_t* buffer, size_t valid_bytes);
  /// The problems as one text; empty if there are none.
  std::string problem_text() const;

 private:
  template <class Record>
  void add(const Record& record, DeviceActivity::Kind kind, const std::string& name,
           uint64_t bytes);
};
Recording& recording();

}  // namespace hearth::cuda

#endif
