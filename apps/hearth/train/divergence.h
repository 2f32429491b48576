#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/nn.h"

namespace hearth::app {

/// Thrown when the loss of a run is infinite or NaN, which ends the run.
struct Divergence {
  int64_t step;
  std::string reason;
};

/// Why the loss of a model is not finite: names the first parameter whose value or gradient is not
/// finite, if there is one.
std::string divergence_reason(const nn::Module& model);

// A divergence is stored in its run's folder, beside the checkpoints.
std::optional<Divergence> saved_divergence(const std::string& run_folder);
void save_divergence(const std::string& run_folder, const Divergence& divergence);
void remove_divergence(const std::string& run_folder);

}  // namespace hearth::app
