#pragma once

#include <cstdint>

#include "seam/activity.h"

// Records of kernels, copies and fills by CUPTI, which is opened at the first recording.
namespace hearth::cuda {

/// Records the work that is launched from now on. Null ends the recording and passes its records to
/// the sink with which it began; the caller must have synchronised the devices. Without CUPTI,
/// gives a warning and does nothing.
void record_with_cupti(ActivitySink* sink);

/// During its lifetime, work that this thread launches is recorded with the number that the sink's
/// current_event() has returned.
class LaunchNumber {
 public:
  LaunchNumber();
  ~LaunchNumber();
  LaunchNumber(const LaunchNumber&) = delete;
  LaunchNumber& operator=(const LaunchNumber&) = delete;

 private:
  bool is_set_ = false;
};

}  // namespace hearth::cuda
