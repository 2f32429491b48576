#include "report_ages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hearth::app {

namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kLongestAge = 1e7;  // seconds; longer ones could overflow Clock::duration

/// How long ago the report was written, by the clocks of its machine and of this one.
double age_by_clocks(const std::string& report) {
  const auto json = nlohmann::json::parse(report, nullptr, /*allow_exceptions=*/false);
  const bool has_time = json.is_object() && json.contains("time") && json["time"].is_number();
  const Seconds now = std::chrono::system_clock::now().time_since_epoch();
  return has_time ? std::max(0.0, now.count() - json["time"].get<double>()) : 0;
}

}  // namespace

std::vector<RankReport> ReportAges::update(const std::vector<std::string>& reports) {
  const Clock::time_point now = Clock::now();
  ranks_.resize(reports.size());
  std::vector<RankReport> result;
  for (size_t i = 0; i < reports.size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.report.empty() && !reports[i].empty()) {
      const Seconds age(std::min(age_by_clocks(reports[i]), kLongestAge));
      rank.changed = now - std::chrono::duration_cast<Clock::duration>(age);
    } else if (rank.report != reports[i]) {
      rank.changed = now;
      rank.is_first = false;
    }
    rank.report = reports[i];
    result.push_back({reports[i], Seconds(now - rank.changed).count()});
  }
  return result;
}

bool ReportAges::has_doubtful_age() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
    return rank.is_first && !rank.report.empty() &&
           Seconds(Clock::now() - rank.changed).count() > kSilentAge / 2;
  });
}

}  // namespace hearth::app
