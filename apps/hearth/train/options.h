#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search.h"

namespace hearth::app {

/// Stands for `--batch-size auto` until the data and the devices are known.
inline constexpr int64_t kAutoBatchSize = 0;

/// The settings of `hearth train`: the axes of the grid, and the settings that all runs share.
struct TrainOptions {
  std::vector<double> lrs{0.01};
  std::vector<int64_t> batch_sizes{100};
  std::optional<Range> lr_range, batch_range;  // instead of lists, for a search
  std::optional<int64_t> trials;               // runs of a search
  std::string search = "random";
  std::vector<int64_t> num_workers{0};
  std::vector<std::string> devices;  // empty: the GPU if there is one, else the CPU
  int64_t epochs = 5;
  uint64_t seed = 0;
  std::string model = "tutorial-cnn";
  std::string data = "fashion-mnist";
  std::string optimizer = "adam";
  std::string scheduler = "none";
  int64_t warmup_steps = 0;
  int64_t accumulate = 1;        // batches per step
  bool split_batches = false;    // the batch size is that of all processes together
  bool sync_batch_norm = false;  // statistics over all processes
  std::optional<double> clip_grad_norm, clip_grad_value;
  double label_smoothing = 0;
  std::optional<double> ema;         // decay of the average of the weights
  std::optional<int64_t> patience;   // epochs without a better test accuracy before training ends
  std::string amp = "off";           // mixed precision: the dtype under autocast
  std::optional<int64_t> limit;      // examples of each set
  int64_t image_size = 64;           // of the images of an image-folder
  std::vector<std::string> augment;  // random changes of the training images
  bool checkpoint_activations = false;  // recompute the activations of blocks in backward
  bool log_losses = false;
  std::string profile;  // the file for a profile of a few steps; empty: none
  bool no_tensorboard = false;
};

/// Whether a setting determines a run's results, so that a resumed run must keep it.
enum class Effect { kResults, kNone };

/// Calls visit(name of the flag, member, effect) for each setting that all runs share, except
/// `profile`.
template <class Options, class Visit>
void for_each_setting(Options& options, const Visit& visit) {
  visit("trials", options.trials, Effect::kNone);
  visit("search", options.search, Effect::kNone);
  visit("epochs", options.epochs, Effect::kNone);
  visit("seed", options.seed, Effect::kResults);
  visit("model", options.model, Effect::kResults);
  visit("data", options.data, Effect::kResults);
  visit("optimizer", options.optimizer, Effect::kResults);
  visit("scheduler", options.scheduler, Effect::kResults);
  visit("warmup-steps", options.warmup_steps, Effect::kResults);
  visit("accumulate", options.accumulate, Effect::kResults);
  visit("split-batches", options.split_batches, Effect::kResults);
  visit("sync-batch-norm", options.sync_batch_norm, Effect::kResults);
  visit("clip-grad-norm", options.clip_grad_norm, Effect::kResults);
  visit("clip-grad-value", options.clip_grad_value, Effect::kResults);
  visit("label-smoothing", options.label_smoothing, Effect::kResults);
  visit("ema", options.ema, Effect::kResults);
  visit("patience", options.patience, Effect::kNone);
  visit("amp", options.amp, Effect::kResults);
  visit("checkpoint-activations", options.checkpoint_activations, Effect::kNone);
  visit("limit", options.limit, Effect::kResults);
  visit("image-size", options.image_size, Effect::kNone);  // the inputs' sizes are kept
  visit("augment", options.augment, Effect::kResults);
  visit("no-tensorboard", options.no_tensorboard, Effect::kNone);
  visit("log-losses", options.log_losses, Effect::kNone);
}

/// The setting's name in files: "batch_size" for the flag "batch-size".
std::string identifier(std::string flag);

/// The settings of one run: one point of the grid.
struct RunOptions {
  double lr;
  int64_t batch_size;
  int64_t num_workers;
  std::string device;
};

/// Throws if there are too many combinations.
void check_grid(const TrainOptions& options);
/// All combinations, in an order in which the device changes fastest; or the trials of a search.
std::vector<RunOptions> runs_of(const TrainOptions& options);

}  // namespace hearth::app
