#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results.h"

namespace hearth::app {

/// One run in a folder's results.json.
struct RecordedRun {
  size_t number = 0;
  std::vector<EpochResult> epochs;
  std::string status;
  /// Names and values of its learning rate, batch size, workers and device.
  std::vector<std::pair<std::string, std::string>> options;
};

/// A folder's results.json.
struct RecordedResults {
  /// Names and values of the settings that all runs share.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<RecordedRun> runs;
};

/// Reads the results.json in a folder of `hearth train`; throws if it is missing or damaged.
RecordedResults read_results(const std::string& folder);

}  // namespace hearth::app
