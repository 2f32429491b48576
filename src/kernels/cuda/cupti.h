#pragma once

#include <cstdint>

#include "seam/activity.h"

// Records of kernels, copies and fills by CUPTI, which is opened at the first recording.
namespace hearth::cuda {

/// Records the work that is launched from now on; null ends the recording and passes the work to
/// the sink, for which the caller must have synchronised the devices. Without CUPTI, gives a
/// warning and does nothing.
void record_with_cupti(ActivitySink* sink);

/// During its lifetime, work that this thread launches gets the sink's number of a launch.
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
