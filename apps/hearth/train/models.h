#pragma once

#include <string>
#include <vector>

#include "hearth/nn.h"

namespace hearth::app {

const std::vector<std::string>& model_names();

/// A new network that tells `classes` kinds of images of these sizes apart, with weights from the
/// default generator.
nn::AnyModule make_model(const std::string& name, IntArrayRef image_sizes, int64_t classes);

}  // namespace hearth::app
