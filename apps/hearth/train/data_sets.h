#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples.h"

namespace hearth::app {

struct DataSets {
  Examples train, test;
  int64_t classes = 0;
  /// Names ("training_images", …) and checksums of the data.
  std::vector<std::pair<std::string, std::string>> checksums = {};
};

/// Adds --data to a command.
CLI::Option* add_data(CLI::App& command, std::string& source);

/// Maps the argument of --data: a dataset's name is returned unchanged, a folder as its full path.
/// "./name" is a folder even if there is a dataset `name`.
std::string data_source(const std::string& typed);

/// Loads a dataset by name, or from a folder with files named like MNIST's; at most the first
/// `limit` examples of each set.
DataSets load_data(const std::string& source, std::optional<int64_t> limit);

/// A note if some classes have no training example, else empty.
std::string note_on_classes(const DataSets& data);

}  // namespace hearth::app
