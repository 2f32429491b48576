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

/// The best test accuracy; below 0 if there are no epochs.
double best_accuracy(const std::vector<EpochResult>& epochs);
/// One result over the epochs.
Series curve(const std::string& name, const std::vector<EpochResult>& epochs,
             double EpochResult::*value);
/// Whether the last `patience` epochs had no better test accuracy than those before.
bool stopped_early(const std::vector<EpochResult>& epochs, const TrainOptions& options);
/// Whether no epoch is left to train up to epoch number `last`.
bool ended(const std::vector<EpochResult>& epochs, const TrainOptions& options, int64_t last);

inline constexpr const char *kRunning = "running", *kFinished = "finished", *kStopped = "stopped",
                            *kStoppedEarly = "stopped early", *kFailed = "failed",
                            *kOutOfMemory = "out of memory", *kEliminated = "eliminated";

struct RunResult {
  RunOptions options;
  std::vector<EpochResult> epochs;
  std::string status;  // a constant above or "diverged at step 12"; empty before the run starts
};

/// The results of all runs of a grid, formatted for files and the terminal.
class Results {
 public:
  explicit Results(const std::vector<RunOptions>& runs);

  RunResult& of_run(size_t i) { return runs_[i]; }
  const RunResult& of_run(size_t i) const { return runs_[i]; }
  const std::vector<RunResult>& runs() const { return runs_; }
  /// Whether no run has started.
  bool empty() const;

  /// A row for each epoch of each run, with exact numbers; a started run without epochs has one row
  /// without results.
  std::string csv() const;
  /// The same rows as JSON, after the settings that all runs share.
  std::string json(const TrainOptions& options, int64_t processes) const;
  /// One run: all epochs. Several runs: the last epoch of each, by number, or, if `best_first`,
  /// by best test accuracy, with eliminated runs last.
  std::string table(bool best_first) const;
  std::vector<Chart> charts() const;

 private:
  /// The run's values of the settings in which the runs differ: "lr 0.01, batch 100".
  std::string label(const RunOptions& run) const;
  template <class Visit>
  void for_each_row(const Visit& visit) const;
  template <class Visit>
  void for_each_row_of(size_t i, const Visit& visit) const;

  std::vector<RunResult> runs_;
};

}  // namespace hearth::app
