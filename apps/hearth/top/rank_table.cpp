#include "rank_table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../names.h"
#include "../text_table.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

/// A rank is said to wait if its wait is at least this long.
constexpr double kLongWait = 3;  // seconds
/// An optional part gets a column if it has at least this share of any rank's time.
constexpr double kNotableShare = 0.005;

/// A part of the time, by its name in reports and its column.
struct Part {
  const char *name, *column;
  bool is_optional;
};
constexpr Part kParts[] = {{"data", "data", false},
                           {"copies", "copies", true},
                           {"communication", "comm.", false},
                           {"logging", "logging", true},
                           {"compute", "compute", false}};

/// Reads a report; throws if it is malformed.
Json parsed(const std::string& report, size_t rank) {
  try {
    Json json = Json::parse(report);
    HEARTH_CHECK(json.is_object(), "it is no object");
    return json;
  } catch (const std::exception& error) {
    throw Error(detail::str("the report of rank ", rank, " is damaged: ", error.what()));
  }
}

std::optional<double> number_in(const Json& report, const char* key) {
  const auto value = report.find(key);
  if (value == report.end() || !value->is_number()) return {};
  return value->get<double>();
}

std::optional<double> share_in(const Json& report, const char* part) {
  const auto shares = report.find("shares");
  return shares != report.end() && shares->is_object() ? number_in(*shares, part) : std::nullopt;
}

std::string text_in(const Json& report, const char* key) {
  const auto value = report.find(key);
  return value != report.end() && value->is_string() ? printable(value->get<std::string>()) : "";
}

/// The number, or an empty cell.
std::string cell(std::optional<double> number, int digits) {
  return number ? fixed(*number, digits) : "";
}

std::string rate_cell(std::optional<double> rate) {
  // From 9.95 on, one digit after the point would give "10.0".
  return cell(rate, rate && *rate < 9.95 ? 1 : 0);
}

std::string percent_cell(std::optional<double> share) {
  return share ? fixed(100 * *share, 0) + " %" : "";
}

std::string memory_cell(std::optional<double> bytes) { return bytes ? bytes_text(*bytes) : ""; }

/// Empty for a rank that makes steps.
std::string state_of(const Json& report, double age) {
  if (age >= kSilentAge) return "silent for " + fixed(age, 0) + " s";
  const double wait = number_in(report, "wait").value_or(0);
  if (wait >= kLongWait)
    return "waits for " + text_in(report, "waits_for") + ", " + fixed(wait, 0) + " s";
  const auto since_step = number_in(report, "step_age");
  if (!since_step) return "no step yet";
  return number_in(report, "steps_per_second").value_or(1) == 0
             ? "no step for " + fixed(*since_step, 0) + " s"
             : "";
}

/// The columns of a table, which depend on what the ranks report.
struct Columns {
  bool gpu = false;
  std::vector<Part> parts;

  explicit Columns(const std::vector<Json>& reports) {
    for (const Part& part : kParts)
      if (!part.is_optional || std::any_of(reports.begin(), reports.end(), [&](const Json& report) {
            return share_in(report, part.name).value_or(0) >= kNotableShare;
          }))
        parts.push_back(part);
    for (const Json& report : reports) gpu |= number_in(report, "gpu_memory").value_or(0) > 0;
  }

  std::vector<std::string> head() const {
    std::vector<std::string> names{"rank", "host", "step", "steps/s", "samples/s"};
    for (const Part& part : parts) names.emplace_back(part.column);
    names.emplace_back("memory");
    if (gpu) names.emplace_back("GPU memory");
    names.emplace_back("state");
    return names;
  }

  std::vector<std::string> row(const std::string& rank, const Json& report,
                               const std::string& state) const {
    std::vector<std::string> cells{rank, text_in(report, "host"),
                                   cell(number_in(report, "step"), 0),
                                   rate_cell(number_in(report, "steps_per_second")),
                                   rate_cell(number_in(report, "samples_per_second"))};
    for (const Part& part : parts) cells.push_back(percent_cell(share_in(report, part.name)));
    cells.push_back(memory_cell(number_in(report, "memory")));
    if (gpu) cells.push_back(memory_cell(number_in(report, "gpu_memory")));
    cells.push_back(state);
    return cells;
  }
};

/// The sums of the ranks that are not silent, as a report.
Json sum_of(const std::vector<Json>& reports, const std::vector<RankReport>& ranks) {
  Json sum = Json::object();
  for (size_t i = 0; i < reports.size(); ++i)
    for (const char* key : {"samples_per_second", "memory", "gpu_memory"})
      if (const auto number = number_in(reports[i], key); number && ranks[i].age < kSilentAge)
        sum[key] = number_in(sum, key).value_or(0) + *number;
  return sum;
}

std::vector<Json> parsed_reports(const std::vector<RankReport>& ranks) {
  std::vector<Json> reports;
  for (size_t i = 0; i < ranks.size(); ++i)
    reports.push_back(ranks[i].json.empty() ? Json::object() : parsed(ranks[i].json, i));
  return reports;
}

}  // namespace

std::string rank_table(const std::vector<RankReport>& ranks) {
  const std::vector<Json> reports = parsed_reports(ranks);
  const Columns columns(reports);
  TextTable table(columns.head());
  for (size_t i = 0; i < ranks.size(); ++i)
    table.add(columns.row(
        std::to_string(i), reports[i],
        ranks[i].json.empty() ? "has not reported yet" : state_of(reports[i], ranks[i].age)));
  if (ranks.size() > 1) table.add(columns.row("all", sum_of(reports, ranks), ""));
  return table.text();
}

std::string ranks_json(const std::string& title, const std::vector<RankReport>& ranks) {
  std::vector<Json> reports = parsed_reports(ranks);
  Json json{{"source", title}, {"ranks", Json::array()}};
  for (size_t i = 0; i < ranks.size(); ++i) {
    Json& rank = reports[i];
    const bool has_report = !ranks[i].json.empty();
    rank["rank"] = i;
    rank["age"] = has_report ? Json(ranks[i].age) : Json();
    rank["silent"] = !has_report || ranks[i].age >= kSilentAge;
    json["ranks"].push_back(std::move(rank));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hearth::app
