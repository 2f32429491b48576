#include <algorithm>
#include <iostream>
#include <memory>

#include "../choices.h"
#include "../names.h"
#include "../plot.h"
#include "../text_table.h"
#include "../train/recorded.h"
#include "commands.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

struct CompareOptions {
  std::vector<std::string> folders;
  std::string picture = "compare.png";
};

/// One run of one folder, with all its settings.
struct Compared {
  std::string name;  // "runs/a"; "runs/a 2" for run 2 of a folder with several runs
  RecordedRun run;
  std::vector<std::pair<std::string, std::string>> settings;

  std::string setting(const std::string& wanted) const {
    for (const auto& [setting_name, value] : settings)
      if (setting_name == wanted) return value;
    return "";
  }
};

void add_runs(const std::string& folder, std::vector<Compared>& all) {
  const RecordedResults results = read_results(folder);
  HEARTH_CHECK(!results.runs.empty(), "'", printable(folder), "' has no results yet");
  for (const RecordedRun& run : results.runs) {
    const std::string number = results.runs.size() > 1 ? " " + std::to_string(run.number) : "";
    Compared& compared = all.emplace_back(Compared{folder + number, run, results.settings});
    compared.settings.insert(compared.settings.end(), run.options.begin(), run.options.end());
  }
}

/// The settings in which the runs differ.
std::vector<std::string> differing_settings(const std::vector<Compared>& all) {
  std::vector<std::string> names, differing;
  for (const Compared& compared : all)
    for (const auto& [name, value] : compared.settings)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (const std::string& name : names)
    if (std::ranges::any_of(
            all, [&](const Compared& c) { return c.setting(name) != all[0].setting(name); }))
      differing.push_back(name);
  return differing;
}

std::string table_of(const std::vector<Compared>& all) {
  const std::vector<std::string> settings = differing_settings(all);
  std::vector<std::string> head{"run",      "epochs", "last loss", "best test accuracy",
                                "duration", "status"};
  for (const std::string& setting : settings) head.push_back(printable(setting));
  TextTable table(head);
  for (const Compared& compared : all) {
    const std::vector<EpochResult>& epochs = compared.run.epochs;
    const bool is_empty = epochs.empty();
    std::vector<std::string> row{printable(compared.name),
                                 std::to_string(epochs.size()),
                                 is_empty ? "" : fixed(epochs.back().loss, 4),
                                 is_empty ? "" : fixed(best_accuracy(epochs), 4),
                                 is_empty ? "" : duration_text(epochs.back().run_duration),
                                 printable(compared.run.status)};
    for (const std::string& setting : settings) row.push_back(printable(compared.setting(setting)));
    table.add(row);
  }
  return table.text();
}

Chart chart_of(const std::vector<Compared>& all, const char* title, const char* label,
               double EpochResult::*value) {
  Chart chart{title, "epoch", label, {}};
  for (const Compared& compared : all)
    chart.series.push_back(curve(printable(compared.name), compared.run.epochs, value));
  return chart;
}

void compare(const CompareOptions& options) {
  std::vector<Compared> all;
  bool has_failed = false;
  for (const std::string& folder : options.folders) {
    try {
      add_runs(folder, all);
    } catch (const Error& error) {
      has_failed = true;
      std::cerr << "hearth: " << printable_lines(error.what()) << ": the folder is left out\n";
    }
  }
  if (!all.empty()) {
    std::cout << table_of(all);
    write_png(options.picture,
              {chart_of(all, "Loss", "loss", &EpochResult::loss),
               chart_of(all, "Test accuracy", "test accuracy", &EpochResult::test_accuracy)});
    std::cout << "\n" << options.picture << "\n";
  }
  if (has_failed) throw CLI::RuntimeError(1);
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "Compare the results in several folders: a table and a picture");
  auto options = std::make_shared<CompareOptions>();
  suggest_values(
      command->add_option("folders", options->folders, "Folders written by 'hearth train'"),
      {{}, Values::Paths::kFolders})
      ->required();
  suggest_values(command->add_option("--picture", options->picture, "PNG file of the curves"),
                 {{}, Values::Paths::kFiles})
      ->type_name("FILE")
      ->capture_default_str();
  command->footer("Example: hearth compare runs/*");
  command->callback([options] { compare(*options); });
}

}  // namespace hearth::app
