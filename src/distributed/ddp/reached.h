#pragma once

#include <vector>

#include "hearth/autograd.h"

namespace hearth::distributed {

/// For each node, whether backward() from the tensors would reach it.
std::vector<bool> reached_nodes(const std::vector<Tensor>& from,
                                const std::vector<autograd::NodePtr>& nodes);

}  // namespace hearth::distributed
