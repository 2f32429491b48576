#include "results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "../text_table.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

/// A row of the table: which run, which epoch, what it came to.
struct Row {
  size_t run, epoch;
  const RunOptions& options;
  const EpochResult& result;
};

/// The table's columns, in order: as exact values, and how they are shown.
struct Column {
  const char* name;
  Json (*value)(const Row&);
  int digits;
};

constexpr Column kColumns[] = {
    {"run", [](const Row& r) -> Json { return r.run; }, 0},
    {"epoch", [](const Row& r) -> Json { return r.epoch; }, 0},
    {"loss", [](const Row& r) -> Json { return r.result.loss; }, 4},
    {"accuracy", [](const Row& r) -> Json { return r.result.accuracy; }, 4},
    {"test accuracy", [](const Row& r) -> Json { return r.result.test_accuracy; }, 4},
    {"epoch duration", [](const Row& r) -> Json { return r.result.epoch_duration; }, 2},
    {"run duration", [](const Row& r) -> Json { return r.result.run_duration; }, 2},
    {"lr", [](const Row& r) -> Json { return r.options.lr; }, 0},
    {"batch_size", [](const Row& r) -> Json { return r.options.batch_size; }, 0},
    {"num_workers", [](const Row& r) -> Json { return r.options.num_workers; }, 0},
    {"device", [](const Row& r) -> Json { return r.options.device; }, 0},
};

std::string exact(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string shown(const Json& value, int digits) {
  return digits > 0 ? fixed(value.get<double>(), digits) : exact(value);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Column& column : kColumns) all.emplace_back(column.name);
  return all;
}

/// A line of results over the epochs.
Series curve(const std::string& name, const std::vector<EpochResult>& epochs,
             double EpochResult::*value) {
  Series series{name, {}, {}};
  for (size_t i = 0; i < epochs.size(); ++i) {
    series.x.push_back(static_cast<double>(i + 1));
    series.y.push_back(epochs[i].*value);
  }
  return series;
}

}  // namespace

Results::Results(const std::vector<RunOptions>& runs) {
  for (const RunOptions& options : runs) runs_.push_back({options, {}});
}

bool Results::empty() const {
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const RunResult& run) { return run.epochs.empty(); });
}

template <class Visit>
void Results::for_each_row(const Visit& visit) const {
  for (size_t run = 0; run < runs_.size(); ++run)
    for (size_t epoch = 0; epoch < runs_[run].epochs.size(); ++epoch)
      visit(Row{run + 1, epoch + 1, runs_[run].options, runs_[run].epochs[epoch]});
}

std::string Results::csv() const {
  std::string text;
  for (const std::string& name : names()) text += (text.empty() ? "" : ",") + name;
  for_each_row([&](const Row& row) {
    const char* before = "\n";
    for (const Column& column : kColumns)
      text += std::exchange(before, ",") + exact(column.value(row));
  });
  return text + "\n";
}

std::string Results::json(const TrainOptions& options) const {
  Json json{{"model", options.model}, {"data", options.data},     {"optimizer", options.optimizer},
            {"seed", options.seed},   {"epochs", options.epochs}, {"results", Json::array()}};
  for_each_row([&](const Row& row) {
    Json entry;
    for (const Column& column : kColumns) entry[column.name] = column.value(row);
    json["results"].push_back(std::move(entry));
  });
  return json.dump(2) + "\n";
}

std::string Results::table() const {
  TextTable table(names());
  for_each_row([&](const Row& row) {
    if (runs_.size() > 1 && row.epoch < runs_[row.run - 1].epochs.size()) return;
    std::vector<std::string> cells;
    for (const Column& column : kColumns) cells.push_back(shown(column.value(row), column.digits));
    table.add(std::move(cells));
  });
  return table.text();
}

std::string Results::label(const RunOptions& run) const {
  std::string text;
  const auto add = [&](const std::string& what, auto RunOptions::*member) {
    for (const RunResult& other : runs_)
      if (other.options.*member != run.*member) {
        text += (text.empty() ? "" : ", ") + what;
        return;
      }
  };
  add("lr " + shortest(run.lr), &RunOptions::lr);
  add("batch " + std::to_string(run.batch_size), &RunOptions::batch_size);
  add("workers " + std::to_string(run.num_workers), &RunOptions::num_workers);
  add(run.device, &RunOptions::device);
  return text;
}

std::vector<Chart> Results::charts() const {
  Chart loss{"Loss", "epoch", "loss", {}}, accuracy{"Accuracy", "epoch", "accuracy", {}};
  const bool single = runs_.size() == 1;
  for (const RunResult& run : runs_) {
    const std::string name = label(run.options);
    loss.series.push_back(curve(single ? "training" : name, run.epochs, &EpochResult::loss));
    if (single) accuracy.series.push_back(curve("training", run.epochs, &EpochResult::accuracy));
    accuracy.series.push_back(
        curve(single ? "test" : name, run.epochs, &EpochResult::test_accuracy));
  }
  if (!single) {
    accuracy.title = "Test accuracy";
    accuracy.y_label = "test accuracy";
  }
  return {std::move(loss), std::move(accuracy)};
}

}  // namespace hearth::app
