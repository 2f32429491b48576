#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/optim/optim.h"

namespace hearth::app {

const std::vector<std::string>& optimizer_names();

/// Creates an optimizer from a text such as "sgd:momentum=0.9", with this learning rate and
/// PyTorch's defaults for all settings that the text does not name.
std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& text,
                                                 const std::vector<Tensor>& parameters, double lr);

}  // namespace hearth::app
