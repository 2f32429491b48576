#pragma once

#include <string>

#include "hearth/tensor.h"

/// Tensors that skip modules of a Sequential or a Pipeline: one module stashes a tensor, and a
/// later module pops it in the same forward. Tensors that no module pops are released when the
/// outermost Sequential returns or throws; in a Pipeline, they are an error. Each micro-batch of a
/// Pipeline has its own tensors, which are copied directly to the device of the stage that pops
/// them, and their gradients back.
namespace hearth::nn::skip {

/// Keeps `tensor` under a name until it is popped; stashing another one of that name is an error.
HEARTH_API void stash(const std::string& name, const Tensor& tensor);
/// Returns and forgets the tensor of that name.
HEARTH_API Tensor pop(const std::string& name);

}  // namespace hearth::nn::skip
