#pragma once

#include <string>
#include <vector>

#include "hearth/nn.h"

namespace hearth::app {

const std::vector<std::string>& model_names();

/// The current name of a model that was renamed since the run folder was written, else `name`.
std::string current_model_name(const std::string& name);

/// Creates a network that classifies images of these sizes {channels, height, width}, with initial
/// weights from the default generator.
nn::AnyModule make_model(const std::string& name, IntArrayRef image_sizes, int64_t classes);

}  // namespace hearth::app
