#include "recorded.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "../names.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

/// The text of a value; throws if it is a list or object that contains another one: dump() of deep
/// nesting may overflow the stack.
std::string json_text(const Json& value) {
  HEARTH_CHECK(
      !value.is_structured() ||
          std::ranges::none_of(value, [](const Json& item) { return item.is_structured(); }),
      "a value is nested");
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

double number_in(const Json& entry, const char* name) { return entry.at(name).get<double>(); }

void add_row(const Json& entry, RecordedRun& run) {
  run.status = entry.at("status").get<std::string>();
  if (entry.at("epoch").is_null()) return;
  HEARTH_CHECK(entry.at("epoch").get<size_t>() == run.epochs.size() + 1, "epoch ",
               json_text(entry.at("epoch")), " of run ", run.number, " follows epoch ",
               run.epochs.size());
  run.epochs.push_back({number_in(entry, "loss"), number_in(entry, "accuracy"),
                        number_in(entry, "test_accuracy"), number_in(entry, "epoch_duration"),
                        number_in(entry, "run_duration")});
}

RecordedResults parse_results(const Json& json) {
  RecordedResults results;
  HEARTH_CHECK(json.at("format") == 1, "its format is ", json_text(json.at("format")), ", not 1");
  for (const auto& [name, value] : json.items())
    if (name != "format" && name != "results")
      results.settings.emplace_back(name, json_text(value));
  for (const Json& entry : json.at("results")) {
    const auto number = entry.at("run").get<size_t>();
    if (results.runs.empty() || results.runs.back().number != number) {
      RecordedRun& run = results.runs.emplace_back(RecordedRun{number, {}, {}, {}});
      for (const char* name : {"lr", "batch_size", "num_workers", "device"})
        run.options.emplace_back(name, json_text(entry.at(name)));
    }
    add_row(entry, results.runs.back());
  }
  return results;
}

}  // namespace

RecordedResults read_results(const std::string& folder) {
  const std::string path = folder + "/results.json";
  std::error_code error_code;
  HEARTH_CHECK(!std::filesystem::is_directory(path, error_code), "cannot read '", printable(path),
               "': it is a folder");
  std::ifstream file(path);
  HEARTH_CHECK(file, "cannot read '", printable(path), "': ", std::strerror(errno));
  try {
    return parse_results(Json::parse(file));
  } catch (const std::exception& error) {
    throw Error("'" + printable(path) + "' is damaged: " + printable(error.what()));
  }
}

}  // namespace hearth::app
