#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "hearth/utils/graph.h"

// A table of a model's layers.
namespace hearth::nn {

/// One module in a ModelSummary.
struct LayerSummary {
  std::string path, type;       ///< "features.0", "Conv2d"
  std::vector<int64_t> output;  ///< the sizes of its result; empty if it ran no op
  int64_t parameters = 0;       ///< its own, without those of submodules
  int64_t multiply_adds = 0;    ///< of its own ops, without those of submodules
  int64_t output_bytes = 0;     ///< of its result
};

/// The layers of a model and their sums.
struct ModelSummary {
  std::vector<LayerSummary> layers;  ///< a module before its submodules
  int64_t parameters = 0, trainable_parameters = 0, parameter_bytes = 0;  ///< each tensor once
  int64_t multiply_adds = 0;
};

/// Prints the table.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const ModelSummary& summary);

/// The summary of a model from the graph of one of its calls.
HEARTH_API ModelSummary summarize(const Module& model, const hearth::utils::Graph& graph);

/// Calls the model once on the inputs, in evaluation mode and without gradients, and returns a
/// table of its modules.
template <class Model, class... Inputs>
ModelSummary summary(Model& model, const Inputs&... inputs) {
  return summarize(hearth::utils::detail::module_of(model), hearth::utils::trace(model, inputs...));
}

}  // namespace hearth::nn
