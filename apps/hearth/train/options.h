#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearth::app {

/// Stands for `--batch-size auto` until the data and the devices are known.
inline constexpr int64_t kAutoBatchSize = 0;

/// The settings of `hearth train`: the axes of the grid, and the settings that all runs share.
struct TrainOptions {
  std::vector<double> lrs{0.01};
  std::vector<int64_t> batch_sizes{100};
  std::vector<int64_t> num_workers{0};
  std::vector<std::string> devices;  // empty: the GPU if there is one, else the CPU
  int64_t epochs = 5;
  uint64_t seed = 0;
  std::string model = "tutorial-cnn";
  std::string data = "fashion-mnist";
  std::string optimizer = "adam";
  std::string amp = "off";       // mixed precision: the dtype under autocast
  std::optional<int64_t> limit;  // images of each set
  bool log_losses = false;
  std::string profile;  // the file for a profile of a few steps; empty: none
};

/// The settings of one run: one point of the grid.
struct RunOptions {
  double lr;
  int64_t batch_size;
  int64_t num_workers;
  std::string device;
};

/// Throws if there are too many combinations.
void check_grid(const TrainOptions& options);
/// All combinations; the device changes fastest.
std::vector<RunOptions> runs_of(const TrainOptions& options);

}  // namespace hearth::app
