#pragma once

#include <optional>
#include <string>

#include "hearth/utils/tensorboard.h"
#include "results.h"

namespace hearth::app {

/// The records of a run for TensorBoard, in the run's folder.
class Log {
 public:
  /// Later records replace those of an earlier process from step `first_step` on. Without `enabled`
  /// nothing is written.
  Log(const std::string& folder, bool enabled, int64_t first_step);

  /// The loss, the rate and the duration of a step.
  void step(int64_t step, double loss, double lr, double seconds);
  void epoch(int64_t step, const EpochResult& epoch);

 private:
  std::optional<utils::tensorboard::SummaryWriter> writer_;
};

}  // namespace hearth::app
