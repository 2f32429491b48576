#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "hearth/error.h"
#include "hearth/profiler/events.h"
#include "profiler/shapes_text.h"

namespace hearth::profiler {

namespace {

constexpr size_t kColumnWidth = 12, kNameWidth = 55, kShapesWidth = 80, kSpacing = 2;

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string time_text(double us) {
  if (us >= 1e6) return format("%.3fs", us / 1e6);
  if (us >= 1e3) return format("%.3fms", us / 1e3);
  return format("%.3fus", us);
}

std::string share_text(double us, double total_us) {
  return total_us == 0 ? "NaN" : format("%.2f%%", us * 100 / total_us);
}

std::string memory_text(int64_t bytes) {
  constexpr double kKb = 1024;
  const auto amount = static_cast<double>(bytes);
  if (std::abs(amount) >= kKb * kKb * kKb) return format("%.2f GB", amount / (kKb * kKb * kKb));
  if (std::abs(amount) >= kKb * kKb) return format("%.2f MB", amount / (kKb * kKb));
  if (std::abs(amount) >= kKb) return format("%.2f KB", amount / kKb);
  return std::to_string(bytes) + " B";
}

/// The row's value of the column by which a table is sorted; throws if the name is unknown.
double number_of(const FunctionEventAvg& event, const std::string& name) {
  static const std::map<std::string, double (*)(const FunctionEventAvg&)> numbers{
      {"count", [](const auto& row) { return double(row.count); }},
      {"cpu_time", [](const auto& row) { return row.cpu_time(); }},
      {"cpu_time_total", [](const auto& row) { return row.cpu_time_total; }},
      {"self_cpu_time_total", [](const auto& row) { return row.self_cpu_time_total; }},
      {"device_time", [](const auto& row) { return row.device_time(); }},
      {"device_time_total", [](const auto& row) { return row.device_time_total; }},
      {"self_device_time_total", [](const auto& row) { return row.self_device_time_total; }},
      {"cpu_memory_usage", [](const auto& row) { return double(row.cpu_memory_usage); }},
      {"self_cpu_memory_usage", [](const auto& row) { return double(row.self_cpu_memory_usage); }},
      {"device_memory_usage", [](const auto& row) { return double(row.device_memory_usage); }},
      {"self_device_memory_usage",
       [](const auto& row) { return double(row.self_device_memory_usage); }},
      {"flops", [](const auto& row) { return double(row.flops); }}};
  std::string known = name;  // "device_time_total" for its older name "cuda_time_total"
  if (const size_t cuda = known.find("cuda"); cuda != std::string::npos)
    known.replace(cuda, 4, "device");
  const auto found = numbers.find(known);
  if (found != numbers.end()) return found->second(event);
  std::string names;
  for (const auto& [each, number] : numbers) names += (names.empty() ? "" : ", ") + each;
  hearth::detail::fail<ValueError>("a table of a profile cannot be sorted by '", name,
                                   "'; use one of ", names);
}

struct Column {
  std::string header;
  size_t width = kColumnWidth;
  std::vector<std::string> cells = {};
};

class Table {
 public:
  Table(const std::vector<FunctionEventAvg>& rows, bool with_memory, size_t row_limit)
      : rows_(rows), limit_(std::min(row_limit, rows.size())) {
    for (const FunctionEventAvg& row : rows) {
      cpu_us_ += row.self_cpu_time_total;
      if (row.is_device) device_us_ += row.self_device_time_total;
      has_device_time_ |= row.self_device_time_total > 0;
      has_device_memory_ |= row.self_device_memory_usage != 0;
    }
    add_name_and_times();
    if (with_memory) add_memory();
    add("# of Calls", [](const auto& row) { return std::to_string(row.count); });
    add_shapes();
    add_flops();
  }

  std::string text() const {
    std::string rule;
    for (const Column& column : columns_) rule += std::string(column.width, '-') + "  ";
    rule += '\n';
    std::string text = rule + line([](const Column& column) { return column.header; }) + rule;
    for (size_t i = 0; i < limit_; ++i)
      text += line([i](const Column& column) { return column.cells[i]; });
    text += rule + "Self CPU time total: " + time_text(cpu_us_) + "\n";
    if (has_device_time_) text += "Self CUDA time total: " + time_text(device_us_) + "\n";
    return text;
  }

 private:
  template <class F>
  void add(const std::string& header, const F& cell, size_t width = kColumnWidth) {
    Column& column = columns_.emplace_back(Column{header, width});
    for (size_t i = 0; i < limit_; ++i) column.cells.push_back(cell(rows_[i]));
  }

  void add_name_and_times() {
    size_t longest = 0;
    for (const FunctionEventAvg& row : rows_) longest = std::max(longest, row.key.size());
    add(
        "Name",
        [](const auto& row) {
          constexpr size_t kLongest = kNameWidth - 3;
          return row.key.size() < kLongest
                     ? row.key
                     : hearth::detail::str(row.key.substr(0, kLongest), "...");
        },
        std::min(longest + 4, kNameWidth));
    add("Self CPU %",
        [&](const auto& row) { return share_text(row.self_cpu_time_total, cpu_us_); });
    add("Self CPU", [](const auto& row) { return time_text(row.self_cpu_time_total); });
    add("CPU total %", [&](const auto& row) { return share_text(row.cpu_time_total, cpu_us_); });
    add("CPU total", [](const auto& row) { return time_text(row.cpu_time_total); });
    add("CPU time avg", [](const auto& row) { return time_text(row.cpu_time()); });
    if (!has_device_time_) return;
    add("Self CUDA", [](const auto& row) { return time_text(row.self_device_time_total); });
    add("Self CUDA %",
        [&](const auto& row) { return share_text(row.self_device_time_total, device_us_); });
    add("CUDA total", [](const auto& row) { return time_text(row.device_time_total); });
    add("CUDA time avg", [](const auto& row) { return time_text(row.device_time()); });
  }

  void add_memory() {
    add("CPU Mem", [](const auto& row) { return memory_text(row.cpu_memory_usage); });
    add("Self CPU Mem", [](const auto& row) { return memory_text(row.self_cpu_memory_usage); });
    if (!has_device_memory_) return;
    add("CUDA Mem", [](const auto& row) { return memory_text(row.device_memory_usage); });
    add("Self CUDA Mem", [](const auto& row) { return memory_text(row.self_device_memory_usage); });
  }

  void add_shapes() {
    size_t longest = 0;
    bool has_shapes = false;
    for (const FunctionEventAvg& row : rows_) {
      longest = std::max(longest, shapes_text(row.input_shapes).size());
      has_shapes |= !row.input_shapes.empty();
    }
    const size_t width = std::min(longest + 4, kShapesWidth);
    if (has_shapes)
      add(
          "Input Shapes",
          [&](const auto& row) { return shapes_text(row.input_shapes).substr(0, width); }, width);
  }

  /// The smallest count that is not 0 determines the unit.
  void add_flops() {
    int64_t smallest = 0;
    for (const FunctionEventAvg& row : rows_)
      if (row.flops > 0 && (smallest == 0 || row.flops < smallest)) smallest = row.flops;
    if (smallest == 0) return;
    constexpr const char* kUnits[] = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
    const auto thousands = static_cast<size_t>(std::log10(static_cast<double>(smallest)) / 3);
    const size_t unit = std::min(std::size(kUnits) - 1, thousands);
    const double scale = std::pow(10, -3.0 * static_cast<double>(unit));
    add(std::string("Total ") + kUnits[unit], [&](const auto& row) {
      return row.flops > 0 ? format("%8.3f", scale * static_cast<double>(row.flops)) : "--";
    });
  }

  template <class F>
  std::string line(const F& cell) const {
    std::string text;
    for (const Column& column : columns_) {
      const std::string value = cell(column);
      text += std::string(column.width - std::min(column.width, value.size()), ' ') + value +
              std::string(kSpacing, ' ');
    }
    return text + "\n";
  }

  const std::vector<FunctionEventAvg>& rows_;
  const size_t limit_;
  double cpu_us_ = 0, device_us_ = 0;
  bool has_device_time_ = false, has_device_memory_ = false;
  std::vector<Column> columns_;
};

double average(double total, int64_t count) {
  return count == 0 ? 0 : total / static_cast<double>(count);
}

}  // namespace

double FunctionEventAvg::cpu_time() const { return average(cpu_time_total, count); }
double FunctionEventAvg::device_time() const { return average(device_time_total, count); }

const FunctionEventAvg& EventList::at(const std::string& key) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const FunctionEventAvg& row) { return row.key == key; });
  HEARTH_CHECK_AS(IndexError, found != rows_.end(), "the profile has no event '", key, "'");
  return *found;
}

double EventList::self_cpu_time_total() const {
  double sum = 0;
  for (const FunctionEventAvg& row : rows_) sum += row.self_cpu_time_total;
  return sum;
}

std::string EventList::table(const std::string& sort_by, int64_t row_limit) const {
  if (rows_.empty()) return "";
  std::vector<FunctionEventAvg> rows = rows_;
  if (!sort_by.empty())
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const FunctionEventAvg& a, const FunctionEventAvg& b) {
                       return number_of(a, sort_by) > number_of(b, sort_by);
                     });
  if (!sort_by.empty()) number_of(rows[0], sort_by);  // checks the name: sorting one row does not
  const size_t limit = row_limit < 0 ? rows.size() : static_cast<size_t>(row_limit);
  return Table(rows, with_memory_, limit).text();
}

}  // namespace hearth::profiler
