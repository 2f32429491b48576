#include "options.h"

#include <algorithm>

#include "../usage.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr size_t kMaxRuns = 10000;

}  // namespace

std::string identifier(std::string flag) {
  std::ranges::replace(flag, '-', '_');
  return flag;
}

void check_grid(const TrainOptions& options) {
  size_t runs = 1;
  for (const size_t count : {options.lrs.size(), options.batch_sizes.size(),
                             options.num_workers.size(), options.devices.size()}) {
    HEARTH_CHECK_AS(UsageError, count <= kMaxRuns / runs, "a grid has at most ", kMaxRuns,
                    " runs, but these lists give more: ", options.lrs.size(), " of --lr, ",
                    options.batch_sizes.size(), " of --batch-size, ", options.num_workers.size(),
                    " of --num-workers, ", options.devices.size(), " of --device");
    runs *= count;
  }
}

std::vector<RunOptions> runs_of(const TrainOptions& options) {
  if (options.trials) return trials_of(options);
  std::vector<RunOptions> runs;
  for (const double lr : options.lrs)
    for (const int64_t batch_size : options.batch_sizes)
      for (const int64_t num_workers : options.num_workers)
        for (const std::string& device : options.devices)
          runs.push_back({lr, batch_size, num_workers, device});
  return runs;
}

}  // namespace hearth::app
