#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "average.h"
#include "batches.h"
#include "data_sets.h"
#include "display.h"
#include "evaluate.h"
#include "gradients.h"
#include "hearth/io/checkpoint.h"
#include "log.h"
#include "models.h"
#include "options.h"
#include "processes.h"
#include "progress.h"
#include "settings.h"
#include "step_watch.h"
#include "update.h"

namespace hearth::app {

/// The progress in a run's last checkpoint, if there is one; throws if its settings differ. Only
/// the first process needs the file.
std::optional<Progress> saved_progress(const std::string& run_folder, const Settings& settings);

/// Trains one network with the settings of one point of the grid, in a folder of its own.
class Run {
 public:
  /// Loads the last checkpoint if the folder has one. `title` is the run's name on the display.
  Run(const TrainOptions& options, const RunOptions& run, const DataSets& data,
      const Processes& processes, std::string folder, std::string title);

  /// Trains the remaining epochs up to number `last`; returns false if a signal stopped it. Saves a
  /// checkpoint after each epoch, before it calls `after_epoch`, and when stopped. Throws a
  /// Divergence if a loss is infinite or NaN.
  bool train(int64_t last, Display& display, const std::function<void()>& after_epoch);

  const Progress& progress() const { return progress_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Batch = data::Example<>;

  void load();
  bool train_epoch(Display& display);
  /// Makes a step with the mean gradient of these batches' examples.
  void step(const std::vector<Batch>& batches);
  Evaluation test();
  void end_epoch(Display& display);
  /// Writes the weights and the last checkpoint, and the best one if this epoch `is_best`.
  void save(bool is_best);
  void save_losses() const;
  /// The time since the last call or the start of train().
  double take_seconds();
  Display::Status status() const;
  std::string epoch_title(size_t epoch) const;
  /// The name of each class, or its number.
  std::vector<std::string> class_names() const;
  [[noreturn]] void diverge(double loss) const;
  std::string path(const char* name) const { return folder_ + "/" + name; }

  const TrainOptions& options_;
  const RunOptions run_options_;
  const DataSets& data_;
  const Processes& processes_;
  Settings settings_;
  std::string folder_, title_;
  Device device_;
  nn::AnyModule model_;
  std::shared_ptr<nn::Module> module_;
  std::optional<Average> average_;
  std::optional<Gradients> gradients_;
  std::optional<Update> update_;
  Progress progress_;
  std::unique_ptr<Batches> batches_;
  std::optional<Log> log_;
  Tensor correct_;            // right answers in this epoch, on the device
  bool interrupted_ = false;  // on any process
  io::Checkpoint checkpoint_;
  Clock::time_point last_time_;  // of take_seconds()
  StepWatch watch_;
  Clock::time_point last_step_;
};

}  // namespace hearth::app
