#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "display.h"
#include "hearth/amp.h"
#include "hearth/io/checkpoint.h"
#include "images.h"
#include "models.h"
#include "optimizers.h"
#include "options.h"
#include "progress.h"
#include "settings.h"
#include "step_watch.h"

namespace hearth::app {

/// The progress in a run's last checkpoint, if there is one; throws if its settings differ.
std::optional<Progress> saved_progress(const std::string& run_folder, const Settings& settings);

/// Trains one network with the settings of one point of the grid, in a folder of its own.
class Run {
 public:
  /// Loads the last checkpoint if the folder has one. `title` is the run's name on the display.
  Run(const TrainOptions& options, const RunOptions& point, const ImageSets& images,
      std::string folder, std::string title);

  /// Trains the remaining epochs; returns false if a signal stopped it. Saves a checkpoint after
  /// each epoch, before it calls `after_epoch`, and when stopped. Throws a Divergence.
  bool train(Display& display, const std::function<void()>& after_epoch);

  const Progress& progress() const { return progress_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Loader = data::StatelessDataLoader<Images, data::samplers::RandomSampler>;

  bool train_epoch(Display& display);
  void step(const data::Example<>& batch);
  /// The network's scores, under autocast with --amp.
  Tensor scores_of(const Tensor& images);
  double test_accuracy();
  /// The number of test images [start, start + size) that are classified correctly.
  int64_t correct_of(int64_t start, int64_t size);
  void end_epoch(Display& display);
  void save();
  void save_losses() const;
  /// The time since the last call or the start of train().
  double take_seconds();
  Display::Status status() const;
  std::string epoch_title(size_t epoch) const;
  std::string divergence_reason(double loss) const;
  std::string path(const char* name) const { return folder_ + "/" + name; }

  const TrainOptions& options_;
  const RunOptions point_;
  const ImageSets& images_;
  Settings settings_;
  std::string folder_, title_;
  Device device_;
  nn::AnyModule model_;
  std::shared_ptr<nn::Module> module_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  amp::GradScaler scaler_;  // enabled for float16
  std::unique_ptr<Loader> loader_;
  Progress progress_;
  Tensor correct_;  // right answers in this epoch, on the device
  io::Checkpoint checkpoint_;
  Clock::time_point last_time_;  // of take_seconds()
  StepWatch watch_;
};

}  // namespace hearth::app
