#pragma once

#include <string>
#include <vector>

#include "../plot.h"
#include "options.h"

namespace hearth::app {

struct EpochResult {
  double loss, accuracy, test_accuracy;
  double epoch_duration, run_duration;  // seconds
};

inline constexpr const char *kRunning = "running", *kFinished = "finished", *kStopped = "stopped",
                            *kFailed = "failed", *kOutOfMemory = "out of memory";

struct RunResult {
  RunOptions options;
  std::vector<EpochResult> epochs;
  std::string status;  // one of these, or "diverged at step 12"; of a run that is not begun: none
};

/// The runs of a grid as files and on the terminal.
class Results {
 public:
  explicit Results(const std::vector<RunOptions>& runs);

  RunResult& of_run(size_t i) { return runs_[i]; }
  const RunResult& of_run(size_t i) const { return runs_[i]; }
  /// Whether no run has begun.
  bool empty() const;

  /// A row for each run and epoch, numbers as exact as they are; a run that has begun has at least
  /// one, without results.
  std::string csv() const;
  /// The same, under what all runs have in common.
  std::string json(const TrainOptions& options) const;
  /// Each epoch of a single run; of several runs the last one.
  std::string table() const;
  std::vector<Chart> charts() const;

 private:
  /// What makes a run different from the others.
  std::string label(const RunOptions& run) const;
  template <class Visit>
  void for_each_row(const Visit& visit) const;

  std::vector<RunResult> runs_;
};

}  // namespace hearth::app
