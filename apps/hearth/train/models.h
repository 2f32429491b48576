#pragma once

#include <string>
#include <vector>

#include "data_sets.h"
#include "hearth/nn.h"

namespace hearth::app {

const std::vector<std::string>& model_names();

/// The current name of a model if `name` is its former one, else `name`.
std::string current_model_name(const std::string& name);

/// The model that is trained unless the user chooses one.
std::string model_for(const DataSets& data);

/// The data as the model takes them, with three channels for models of colour images; throws if
/// they do not fit.
DataSets data_for(const std::string& name, DataSets data);

/// Throws if the model has no blocks for --checkpoint-activations.
void check_has_blocks(const std::string& name);

/// Creates a network that classifies inputs of these sizes, such as {channels, height, width}, with
/// initial weights from the default generator.
nn::AnyModule make_model(const std::string& name, IntArrayRef input_sizes, int64_t classes);

}  // namespace hearth::app
