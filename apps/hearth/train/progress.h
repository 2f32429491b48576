#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/io/archive.h"
#include "results.h"

namespace hearth::app {

/// How far a run has come; its checkpoints keep it.
struct Progress {
  std::vector<EpochResult> epochs;
  int64_t step = 0;  // of all epochs
  double run_seconds = 0;
  std::vector<double> losses;  // of each step, if they are wanted

  // The epoch that is going on.
  int64_t batches = 0, seen = 0, correct = 0;
  double loss_sum = 0, epoch_seconds = 0;

  /// Ends the epoch.
  void end_epoch(double test_accuracy);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);
};

}  // namespace hearth::app
