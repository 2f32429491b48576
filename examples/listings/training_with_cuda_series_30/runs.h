#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/// The values of each parameter to try.
struct Params {
  std::vector<double> lr;
  std::vector<int64_t> batch_size;
  std::vector<int64_t> num_workers;
  std::vector<std::string> device = {"cpu"};
};

/// One combination of parameter values.
struct Run {
  double lr = 0;
  int64_t batch_size = 0;
  int64_t num_workers = 0;
  std::string device = "cpu";
};

inline std::ostream& operator<<(std::ostream& stream, const Run& run) {
  return stream << "Run(lr=" << run.lr << ", batch_size=" << run.batch_size
                << ", num_workers=" << run.num_workers << ", device=" << run.device << ')';
}

/// All combinations; the last parameter changes fastest.
inline std::vector<Run> get_runs(const Params& params) {
  std::vector<Run> runs;
  for (auto lr : params.lr)
    for (auto batch_size : params.batch_size)
      for (auto num_workers : params.num_workers)
        for (const auto& device : params.device)
          runs.push_back({lr, batch_size, num_workers, device});
  return runs;
}
