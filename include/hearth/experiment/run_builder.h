#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hearth/experiment/run.h"

namespace hearth::experiment {

/// The values of a parameter to try.
using Values = std::vector<Value>;
/// Parameters by name: {{"lr", {.1, .01}}, {"device", {"cuda", "cpu"}}}.
using Params = std::vector<std::pair<std::string, Values>>;

/// Makes the runs of a grid.
struct HEARTH_API RunBuilder {
  /// All combinations of the values; the last parameter changes fastest.
  static std::vector<Run> get_runs(const Params& params);
};

}  // namespace hearth::experiment
