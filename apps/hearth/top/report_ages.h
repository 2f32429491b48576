#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace hearth::app {

/// A rank's report, with the seconds since the rank wrote it.
struct RankReport {
  std::string json;  // of distributed::get_rank_reports(); empty: the rank has not reported yet
  double age = 0;
};

/// Finds the ages of reports by when they change, because the clocks of machines differ.
class ReportAges {
 public:
  /// Returns the newest reports with their ages. The first report of a rank has the age that its
  /// machine's clock gives.
  std::vector<RankReport> update(const std::vector<std::string>& reports);
  /// Whether an age is from the clock of the machine that wrote the report, and so large that this
  /// clock may be wrong.
  bool has_doubtful_age() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Rank {
    std::string report;
    Clock::time_point changed;  // the time of the last change, or what the report's clock says
    bool is_first = true;       // has not changed since it was first seen
  };
  std::vector<Rank> ranks_;
};

/// The age from which a rank counts as silent, in seconds; ranks report once a second.
inline constexpr double kSilentAge = 5;

}  // namespace hearth::app
