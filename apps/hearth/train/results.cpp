#include "results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>

#include "../text_table.h"
#include "hearth/threads.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;  // of results.json

/// A row of the table: a run's number, the run and one of its epochs.
struct Row {
  size_t number;
  const RunResult& run;
  size_t epoch;  // from 1; 0 in a row without results
};

/// Null in a row without results.
template <double EpochResult::*member>
Json result(const Row& row) {
  return row.epoch ? Json(row.run.epochs[row.epoch - 1].*member) : Json();
}

template <auto member>
Json option(const Row& row) {
  return row.run.options.*member;
}

/// A column of the table.
struct Column {
  const char* name;   // in files
  const char* title;  // on the terminal
  Json (*value)(const Row&);
  int digits;  // on the terminal, after the decimal point; 0 for the exact value
};

constexpr Column kColumns[] = {
    {"run", "run", [](const Row& r) -> Json { return r.number; }, 0},
    {"epoch", "epoch", [](const Row& r) { return r.epoch ? Json(r.epoch) : Json(); }, 0},
    {"loss", "loss", result<&EpochResult::loss>, 4},
    {"accuracy", "accuracy", result<&EpochResult::accuracy>, 4},
    {"test_accuracy", "test accuracy", result<&EpochResult::test_accuracy>, 4},
    {"epoch_duration", "epoch duration", result<&EpochResult::epoch_duration>, 2},
    {"run_duration", "run duration", result<&EpochResult::run_duration>, 2},
    {"lr", "lr", option<&RunOptions::lr>, 0},
    {"batch_size", "batch_size", option<&RunOptions::batch_size>, 0},
    {"num_workers", "num_workers", option<&RunOptions::num_workers>, 0},
    {"device", "device", option<&RunOptions::device>, 0},
    {"status", "status", [](const Row& r) -> Json { return r.run.status; }, 0},
};

/// The column that orders the table of a search: the last epoch need not be the best.
constexpr Column kBest{
    "best", "best",
    [](const Row& r) -> Json { return r.epoch ? Json(best_accuracy(r.run.epochs)) : Json(); }, 4};

std::string exact(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string rounded(const Json& value, int digits) {
  return digits > 0 && !value.is_null() ? fixed(value.get<double>(), digits) : exact(value);
}

}  // namespace

Series curve(const std::string& name, const std::vector<EpochResult>& epochs,
             double EpochResult::*value) {
  Series series{name, {}, {}};
  for (size_t i = 0; i < epochs.size(); ++i) {
    series.x.push_back(static_cast<double>(i + 1));
    series.y.push_back(epochs[i].*value);
  }
  return series;
}

double best_accuracy(const std::vector<EpochResult>& epochs) {
  double best = -1;
  for (const EpochResult& epoch : epochs) best = std::max(best, epoch.test_accuracy);
  return best;
}

bool stopped_early(const std::vector<EpochResult>& epochs, const TrainOptions& options) {
  const auto best = std::ranges::max_element(epochs, {}, &EpochResult::test_accuracy);
  return options.patience && epochs.end() - best > *options.patience;
}

bool ended(const std::vector<EpochResult>& epochs, const TrainOptions& options, int64_t last) {
  return std::ssize(epochs) >= last || stopped_early(epochs, options);
}

Results::Results(const std::vector<RunOptions>& runs) {
  for (const RunOptions& options : runs) runs_.push_back({options, {}, {}});
}

bool Results::empty() const {
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const RunResult& run) { return run.status.empty(); });
}

template <class Visit>
void Results::for_each_row_of(size_t i, const Visit& visit) const {
  const RunResult& run = runs_[i];
  if (run.epochs.empty() && !run.status.empty()) visit(Row{i + 1, run, 0});
  for (size_t epoch = 1; epoch <= run.epochs.size(); ++epoch) visit(Row{i + 1, run, epoch});
}

template <class Visit>
void Results::for_each_row(const Visit& visit) const {
  for (size_t i = 0; i < runs_.size(); ++i) for_each_row_of(i, visit);
}

std::string Results::csv() const {
  std::string text;
  for (const Column& column : kColumns) text.append(text.empty() ? "" : ",").append(column.name);
  for_each_row([&](const Row& row) {
    const char* separator = "\n";
    for (const Column& column : kColumns)
      text += std::exchange(separator, ",") + exact(column.value(row));
  });
  return text + "\n";
}

std::string Results::json(const TrainOptions& options, int64_t processes) const {
  Json json{{"format", kFormat}};
  for_each_setting(options, [&](const char* name, const auto& value, Effect) {
    if constexpr (requires { value.has_value(); })
      json[identifier(name)] = value ? Json(*value) : Json();
    else
      json[identifier(name)] = value;
  });
  json["threads"] = get_num_threads();
  json["processes"] = processes;
  json["results"] = Json::array();
  for_each_row([&](const Row& row) {
    Json entry;
    for (const Column& column : kColumns) entry[column.name] = column.value(row);
    json["results"].push_back(std::move(entry));
  });
  return json.dump(2) + "\n";
}

std::string Results::table(bool best_first) const {
  const bool all_finished = std::all_of(
      runs_.begin(), runs_.end(), [](const RunResult& run) { return run.status == kFinished; });
  // Without the last column, the status, if all runs have finished.
  const auto end = std::end(kColumns) - (all_finished ? 1 : 0);
  const auto cells = [end, best_first](const auto& text) {
    std::vector<std::string> row;
    for (const Column* column = kColumns; column != end; ++column) {
      row.push_back(text(*column));
      if (best_first && column->name == std::string_view("test_accuracy"))
        row.push_back(text(kBest));
    }
    return row;
  };
  TextTable table(cells([](const Column& column) { return column.title; }));
  std::vector<size_t> order(runs_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (best_first)
    std::ranges::stable_sort(order, std::ranges::greater(), [this](size_t i) {
      const RunResult& run = runs_[i];
      return std::pair(run.status != kEliminated, best_accuracy(run.epochs));
    });
  for (const size_t i : order)
    for_each_row_of(i, [&](const Row& row) {
      if (runs_.size() > 1 && row.epoch < row.run.epochs.size()) return;
      table.add(
          cells([&](const Column& column) { return rounded(column.value(row), column.digits); }));
    });
  return table.text();
}

std::string Results::label(const RunOptions& run) const {
  std::string text;
  const auto add_if_varied = [&](const std::string& text_of_member, auto RunOptions::*member) {
    for (const RunResult& other : runs_)
      if (other.options.*member != run.*member) {
        text += (text.empty() ? "" : ", ") + text_of_member;
        return;
      }
  };
  add_if_varied("lr " + shortest(run.lr), &RunOptions::lr);
  add_if_varied("batch " + std::to_string(run.batch_size), &RunOptions::batch_size);
  add_if_varied("workers " + std::to_string(run.num_workers), &RunOptions::num_workers);
  add_if_varied(run.device, &RunOptions::device);
  return text;
}

std::vector<Chart> Results::charts() const {
  Chart loss{"Loss", "epoch", "loss", {}}, accuracy{"Accuracy", "epoch", "accuracy", {}};
  const bool is_single = runs_.size() == 1;
  for (const RunResult& run : runs_) {
    const std::string name = label(run.options);
    loss.series.push_back(curve(is_single ? "training" : name, run.epochs, &EpochResult::loss));
    if (is_single) accuracy.series.push_back(curve("training", run.epochs, &EpochResult::accuracy));
    accuracy.series.push_back(
        curve(is_single ? "test" : name, run.epochs, &EpochResult::test_accuracy));
  }
  if (!is_single) {
    accuracy.title = "Test accuracy";
    accuracy.y_label = "test accuracy";
  }
  return {std::move(loss), std::move(accuracy)};
}

}  // namespace hearth::app
