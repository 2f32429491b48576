#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "report_ages.h"

namespace hearth::app {

/// Where the reports of a job's ranks come from.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// The newest reports; throws JobEnded when they cannot be read any more. A job that starts again
  /// within some seconds at its address, or in its folder, goes on.
  virtual std::vector<RankReport> look() = 0;
  /// "the job at 10.0.0.1:29500", "the training in 'runs/mlp'".
  virtual std::string title() const = 0;
  /// A remark about the last look, "no answer for 3 s"; usually empty.
  virtual std::string remark() const { return ""; }
};

/// The job has ended, or its rank 0 cannot be reached any more.
class JobEnded : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Opens a job: `target` is HOST:PORT, its rank 0's address and MASTER_PORT, or the folder of a
/// `hearth train`. If it is empty, opens the one job of this user on this machine or, without one,
/// the newest training under runs/. `token` is the job's secret; empty: HEARTH_RDZV_TOKEN or, for a
/// job of this user on this machine, that of its processes.
std::unique_ptr<JobSource> open_job(const std::string& target, const std::string& token);

}  // namespace hearth::app
