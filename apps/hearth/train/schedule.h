#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::app {

/// The names of --scheduler; the first is "none".
const std::vector<std::string>& scheduler_names();

/// The numbers on which default settings of schedulers depend.
struct Plan {
  int64_t epochs = 1, steps_per_epoch = 1;
};

/// When a scheduler steps: after an epoch, after a step, or after an epoch with its test accuracy.
enum class ScheduleUnit { kEpoch, kStep, kAccuracy };

/// The learning rates of a run.
class Schedule {
 public:
  /// From a text such as "cosine:eta_min=1e-5". The optimizer must outlive the schedule, whose
  /// largest rate is by default that of the optimizer.
  Schedule(const std::string& text, optim::Optimizer& optimizer, const Plan& plan);

  /// Whether the length of the run (the plan) determines a setting of this schedule, so that the
  /// length cannot change later.
  static bool depends_on_length(const std::string& text);

  /// Whether that setting is a number of steps, not of epochs.
  static bool depends_on_step_count(const std::string& text);

  void after_step();
  void after_epoch(double test_accuracy);

  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  std::shared_ptr<optim::LRScheduler> scheduler_;  // null for "none"
  ScheduleUnit unit_ = ScheduleUnit::kEpoch;
  bool depends_on_length_ = false;
};

}  // namespace hearth::app
