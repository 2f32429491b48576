#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples.h"

namespace hearth::app {

/// The mean and deviation of each column of a table, which standardise it.
struct Standard {
  std::vector<double> mean, deviation;
};

struct DataOptions {
  std::optional<int64_t> limit = std::nullopt;      // most examples of each set
  int64_t image_size = 64;                          // of the images of an image-folder
  std::optional<Standard> standard = std::nullopt;  // of a table; by default its own
};

struct DataSets {
  Examples train, test;
  int64_t classes = 0;
  std::vector<std::string> class_names = {};  // empty if unknown
  /// Names ("training_images", …) and checksums of the data.
  std::vector<std::pair<std::string, std::string>> checksums = {};
  std::optional<Standard> standard = {};  // of a table
};

/// Adds --data to a command.
CLI::Option* add_data(CLI::App& command, std::string& source);

/// Resolves the argument of --data: a dataset's name is returned unchanged; a path becomes a full
/// one, also after "name:". "./name" is a folder even if there is a dataset `name`.
std::string data_source(const std::string& typed);

/// Loads a dataset by name, "name:path", or from a folder with files named like MNIST's.
DataSets load_data(const std::string& source, const DataOptions& options);

/// The same data with this many channels, if its images have one channel.
DataSets with_channels(DataSets data, int64_t channels);

/// A note if some classes have no training example, else empty.
std::string note_on_classes(const DataSets& data);

}  // namespace hearth::app
