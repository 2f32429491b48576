#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data_sets.h"
#include "hearth/nn.h"

namespace hearth::app {

/// A network from a checkpoint of `hearth train`, in evaluation mode, and the settings to use it.
struct Trained {
  std::string checkpoint;  // the file's path
  nn::AnyModule model;     // with the averaged weights, if there are any
  std::string name;        // of the model
  int64_t classes = 0;
  std::vector<int64_t> input_sizes;
  std::vector<std::string> class_names;  // empty if unknown
  std::string data;
  std::optional<Standard> standard;  // of a table
  std::optional<int64_t> limit;
  std::string amp;

  /// The name of a class, or its number.
  std::string class_name(int64_t index) const;
};

/// The checkpoint that a path stands for: the file itself, the best (or else the last) checkpoint
/// in the folder of a run, or, in the folder of a grid, that of the run with the best accuracy.
std::string find_checkpoint(const std::string& path);

/// Loads a network from find_checkpoint(path).
Trained load_trained(const std::string& path, Device device);

}  // namespace hearth::app
