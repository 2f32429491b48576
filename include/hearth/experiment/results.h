#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hearth/experiment/run.h"

namespace hearth::experiment {

/// The results of one epoch.
struct EpochResult {
  int64_t run = 0, epoch = 0;                   ///< counted from 1
  double loss = 0;                              ///< the mean over the epoch's examples
  std::optional<double> accuracy;               ///< none without track_num_correct()
  double epoch_duration = 0, run_duration = 0;  ///< seconds
  Run params;
};

/// A table of results with a row for each epoch. Its columns are the members of EpochResult and the
/// parameters of all runs.
class HEARTH_API Results {
 public:
  void add(EpochResult row);  ///< throws if a parameter has the name of a result: "loss"
  const std::vector<EpochResult>& rows() const { return rows_; }

  /// The table with exact numbers. Cells without a value are empty in CSV and null in JSON. A loss
  /// that is not finite is null in JSON.
  std::string csv() const;
  std::string json() const;
  /// Writes `name`.csv and `name`.json, each atomically.
  void save(const std::string& name) const;

 private:
  std::vector<EpochResult> rows_;
};

/// Prints the table with aligned columns and rounded results.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Results& results);

}  // namespace hearth::experiment
