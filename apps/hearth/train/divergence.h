#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hearth::app {

/// That the loss of a run is not a number any more: the run's end, and its result.
struct Divergence {
  int64_t step;
  std::string reason;
};

/// What ended the run in a folder, if that did; kept beside its checkpoints, which stay as good as
/// they are.
std::optional<Divergence> saved_divergence(const std::string& run_folder);
void save_divergence(const std::string& run_folder, const Divergence& divergence);
void forget_divergence(const std::string& run_folder);

}  // namespace hearth::app
