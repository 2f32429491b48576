#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/optim/optim.h"

namespace hearth::app {

const std::vector<std::string>& optimizer_names();

/// Creates an optimizer with this learning rate and PyTorch's defaults for all other settings.
std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name,
                                                 const std::vector<Tensor>& parameters, double lr);

}  // namespace hearth::app
