#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hearth/export.h"

namespace hearth::profiler {

/// Tells `hearth top` the number of the step that has just ended, and this process's samples in it.
/// Without this call, `hearth top` counts the steps of optimizers and shows no samples. A process
/// reports the training of one thread: the first one whose optimizer makes a step or, if no
/// optimizer does, the first one that calls report_step(). Another thread can replace it after 5
/// seconds without a step. A call on another thread counts only if that thread has no optimizer and
/// the thread that trains does not call report_step() itself.
HEARTH_API void report_step(int64_t step, int64_t samples);

namespace detail {

/// Describes this process for `hearth top`.
class HEARTH_API StatusReporter {
 public:
  /// The calling thread is the one that trains, until another one calls an optimizer's step() or
  /// report_step().
  StatusReporter();
  ~StatusReporter();
  /// The state of the process as JSON on one line; docs/cli.md has its keys. Any thread may call
  /// this about once a second. Rates and shares are those of the steps of the last seconds.
  std::string report(int rank);

 private:
  struct Recent;
  std::unique_ptr<Recent> recent_;
};

}  // namespace detail
}  // namespace hearth::profiler
