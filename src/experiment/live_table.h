#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hearth/experiment/results.h"

namespace hearth::experiment::detail {

/// A table of results on the standard output, which grows with the runs. On a terminal its last
/// line shows the running epoch.
class LiveTable {
 public:
  LiveTable();
  /// Prints a row, and the header before the first row and when the columns have changed.
  void add(const EpochResult& row);
  /// Whether the running epoch should be shown again.
  bool is_due() const;
  void show_running(const EpochResult& row);

 private:
  using Clock = std::chrono::steady_clock;
  void print_head(const EpochResult& row);
  void clear_running();

  bool on_terminal_, has_running_ = false;
  Clock::time_point last_shown_;
  std::vector<std::string> columns_;
  std::vector<size_t> widths_;
};

}  // namespace hearth::experiment::detail
