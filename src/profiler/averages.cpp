#include "profiler/averages.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "profiler/shapes_text.h"

namespace hearth::profiler {

namespace {

using Kind = FunctionEvent::Kind;
constexpr double kUsPerNs = 1e-3;
constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr const char* kNoModule = "(no module)";

/// Rows by group, in the order of their first events. `key` is the text in a new row.
class Rows {
 public:
  size_t index_of(const std::string& group, const std::string& key) {
    const auto [found, is_new] = indices_.emplace(group, rows_.size());
    if (is_new) rows_.emplace_back().key = key;
    return found->second;
  }
  FunctionEventAvg& operator[](size_t index) { return rows_[index]; }
  EventList take(bool with_memory) { return {std::move(rows_), with_memory}; }

 private:
  std::unordered_map<std::string, size_t> indices_;
  std::vector<FunctionEventAvg> rows_;
};

/// The name of an event's row; all steps share one row.
std::string row_name_of(const FunctionEvent& event) {
  return event.name.starts_with("ProfilerStep#") ? "ProfilerStep*" : event.name;
}

/// For each event, the device time of the work that it or an event inside it launched.
std::vector<int64_t> device_totals(const std::vector<FunctionEvent>& events) {
  std::vector<int64_t> totals;
  for (const FunctionEvent& event : events) totals.push_back(event.device_ns);
  for (size_t i = events.size(); i-- > 0;)  // a parent comes before the events inside it
    if (events[i].parent != FunctionEvent::kNone)
      totals[static_cast<size_t>(events[i].parent)] += totals[i];
  return totals;
}

void add_own(FunctionEventAvg& row, const FunctionEvent& event) {
  row.is_device = event.is_on_device();
  row.flops += event.flops;
  row.self_cpu_memory_usage += event.self_cpu_memory;
  row.self_device_memory_usage += event.self_device_memory;
  row.self_device_time_total += kUsPerNs * static_cast<double>(event.device_ns);
  if (!event.is_on_device())
    row.self_cpu_time_total += kUsPerNs * static_cast<double>(event.self_ns);
}

void add_total(FunctionEventAvg& row, const FunctionEvent& event, int64_t device_ns) {
  row.cpu_memory_usage += event.cpu_memory;
  row.device_memory_usage += event.device_memory;
  row.device_time_total += kUsPerNs * static_cast<double>(device_ns);
  if (!event.is_on_device())
    row.cpu_time_total += kUsPerNs * static_cast<double>(event.duration_ns);
}

/// The index of the event itself if it is a module, else of the innermost module around it or
/// around its forward op; kNone if there is none.
int64_t module_of(const std::vector<FunctionEvent>& events, int64_t index) {
  while (index != FunctionEvent::kNone) {
    const FunctionEvent& event = events[static_cast<size_t>(index)];
    if (event.kind == Kind::Module) break;
    index = event.forward != FunctionEvent::kNone ? event.forward : event.parent;
  }
  return index;
}

/// The rows of the modules around an event (module_of), the innermost first; without any, the row
/// of kNoModule.
std::vector<size_t> rows_around(const std::vector<FunctionEvent>& events, size_t index,
                                Rows& rows) {
  std::vector<size_t> result;
  int64_t module = module_of(events, static_cast<int64_t>(index));
  for (; module != FunctionEvent::kNone;) {
    const FunctionEvent& event = events[static_cast<size_t>(module)];
    const std::string name = event.name.substr(kModulePrefix.size());
    result.push_back(rows.index_of(name, name));
    module = module_of(events, event.parent);
  }
  if (result.empty()) result.push_back(rows.index_of(kNoModule, kNoModule));
  return result;
}

}  // namespace

EventList averages_by_name(const std::vector<FunctionEvent>& events, bool by_shape,
                           bool with_memory) {
  Rows rows;
  const std::vector<int64_t> device_ns = device_totals(events);
  for (size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& event = events[i];
    const std::string name = row_name_of(event), kind = event.is_on_device() ? "device " : "";
    FunctionEventAvg& row = rows[rows.index_of(
        kind + name + (by_shape ? " " + shapes_text(event.input_shapes) : ""), name)];
    if (by_shape) row.input_shapes = event.input_shapes;
    ++row.count;
    add_own(row, event);
    add_total(row, event, device_ns[i]);
  }
  return rows.take(with_memory);
}

EventList averages_by_module(const std::vector<FunctionEvent>& events, bool with_memory) {
  Rows rows;
  const std::vector<int64_t> device_ns = device_totals(events);
  // For each event, the rows whose totals include it, by itself or as a part of its parent.
  std::vector<std::vector<size_t>> rows_with(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& event = events[i];
    if (event.is_on_device()) continue;  // counted by the event that has launched it
    const std::vector<size_t> around = rows_around(events, i, rows);
    add_own(rows[around.front()], event);
    if (event.kind == Kind::Module) ++rows[around.front()].count;
    if (event.parent != FunctionEvent::kNone) rows_with[i] = rows_with[size_t(event.parent)];
    for (const size_t row : around) {
      if (std::find(rows_with[i].begin(), rows_with[i].end(), row) != rows_with[i].end()) continue;
      rows_with[i].push_back(row);
      add_total(rows[row], event, device_ns[i]);
      if (rows[row].key == kNoModule) ++rows[row].count;
    }
  }
  return rows.take(with_memory);
}

}  // namespace hearth::profiler
