#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "display.h"
#include "hearth/io/checkpoint.h"
#include "images.h"
#include "models.h"
#include "optimizers.h"
#include "options.h"
#include "progress.h"
#include "settings.h"

namespace hearth::app {

/// What the run in a folder has come to, if it has saved anything; throws if that was with other
/// settings.
std::optional<Progress> saved_progress(const std::string& run_folder, const Settings& settings);

/// One network trained with one point of the grid, in a folder of its own.
class Run {
 public:
  /// `title`: what the display calls it.
  Run(const TrainOptions& all, const RunOptions& own, const ImageSets& images, std::string folder,
      std::string title);

  /// Trains from where it is; false if a signal stopped it. What it has come to is in the folder
  /// then, and after each epoch, when `after_epoch` is called. Throws a Divergence.
  bool train(Display& display, const std::function<void()>& after_epoch);

  const Progress& progress() const { return progress_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Loader = data::StatelessDataLoader<Images, data::samplers::RandomSampler>;

  bool train_epoch(Display& display);
  void step(const data::Example<>& batch);
  double test_accuracy();
  void end_epoch(Display& display);
  void save();
  void save_losses() const;
  double seconds_since_counted();
  Display::Moment moment() const;
  std::string epoch_title(size_t epoch) const;
  std::string why_not_finite(double loss) const;
  std::string path(const char* name) const { return folder_ + "/" + name; }

  const TrainOptions& all_;
  const RunOptions own_;
  const ImageSets& images_;
  Settings settings_;
  std::string folder_, title_;
  Device device_;
  nn::AnyModule model_;
  std::shared_ptr<nn::Module> module_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<Loader> loader_;
  Progress progress_;
  Tensor correct_;  // of the epoch, on the device
  io::Checkpoint checkpoint_;
  Clock::time_point counted_;
};

}  // namespace hearth::app
