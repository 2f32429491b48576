#pragma once

#include <string>
#include <vector>

#include "hearth/nn.h"

namespace hearth::app {

const std::vector<std::string>& model_names();

/// Maps a name that older versions have written to run folders to today's.
std::string current_model_name(const std::string& name);

/// Creates a network that classifies images of these sizes {channels, height, width}, with initial
/// weights from the default generator.
nn::AnyModule make_model(const std::string& name, IntArrayRef image_sizes, int64_t classes);

}  // namespace hearth::app
