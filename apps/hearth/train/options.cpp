#include "options.h"

namespace hearth::app {

std::vector<RunOptions> runs_of(const TrainOptions& options) {
  std::vector<RunOptions> runs;
  for (const double lr : options.lrs)
    for (const int64_t batch_size : options.batch_sizes)
      for (const int64_t num_workers : options.num_workers)
        for (const std::string& device : options.devices)
          runs.push_back({lr, batch_size, num_workers, device});
  return runs;
}

}  // namespace hearth::app
