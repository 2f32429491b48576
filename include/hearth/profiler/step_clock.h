#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>

#include "hearth/export.h"

namespace hearth::profiler {

/// The time of training steps and this thread's waiting times within it, in seconds.
struct HEARTH_API StepTimes {
  int64_t steps = 0;         ///< calls of an optimizer's step()
  double total = 0;          ///< elapsed time
  double data = 0;           ///< for data loaders; without workers, preparing the batches
  double copies = 0;         ///< for blocking copies to a GPU
  double communication = 0;  ///< for other processes
  double logging = 0;        ///< for the writers of TensorBoard's records

  /// The rest: computation, including the wait for a GPU's results.
  double compute() const { return total - data - copies - communication - logging; }
  /// One line: "input-bound: 61 % of the step waits for the data loader", or "compute-bound: …" if
  /// no part except compute() takes a fifth of the time.
  std::string verdict() const;
  /// An estimate of the workers that a data loader needs to keep up with the rest of the step, if
  /// it has `workers` now.
  int64_t workers_needed(int64_t workers) const;
  StepTimes& operator+=(const StepTimes& other);
};

/// Measures the steps of this thread from its construction on. Waiting times are always counted, at
/// the cost of a few clock readings per step.
class HEARTH_API StepClock {
 public:
  StepClock();
  StepTimes times() const;  ///< since the construction

 private:
  int64_t start_[6];  // the thread's counts at the construction, and the time
};

namespace detail {

/// Counts an optimizer's step and names it in profiles: "Optimizer.step#SGD.step".
class HEARTH_API OptimizerStep {
 public:
  explicit OptimizerStep(const std::type_info& optimizer);
  ~OptimizerStep();
  OptimizerStep(const OptimizerStep&) = delete;
  OptimizerStep& operator=(const OptimizerStep&) = delete;
};

}  // namespace detail
}  // namespace hearth::profiler
