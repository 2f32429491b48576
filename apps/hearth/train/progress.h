#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/io/archive.h"
#include "results.h"

namespace hearth::app {

/// The progress and results of a run, stored in its checkpoints.
struct Progress {
  std::vector<EpochResult> epochs;
  int64_t step = 0;  // over all epochs
  double run_seconds = 0;
  std::vector<double> losses;  // of each step, with --log-losses

  // The current epoch.
  int64_t batches = 0, seen = 0, correct = 0;
  double loss_sum = 0, epoch_seconds = 0;

  /// Adds the current epoch to `epochs` and starts the next one.
  void end_epoch(double test_accuracy, int64_t targets_per_example);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);
};

}  // namespace hearth::app
