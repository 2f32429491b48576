#pragma once

#include <string>

#include "hearth/tensor.h"

/// Tensors that skip modules of a Sequential or a Pipeline: one module stashes a tensor, a later
/// one pops it in the same forward. What is not popped is released when the outermost Sequential
/// returns or throws. In a Pipeline, each micro-batch has its own, and a tensor is copied straight
/// to the device of the stage that pops it; its gradient comes back the same way.
namespace hearth::nn::skip {

/// Keeps `tensor` under a name until it is popped; a second one of that name is an error.
HEARTH_API void stash(const std::string& name, const Tensor& tensor);
/// Returns and forgets the tensor of that name.
HEARTH_API Tensor pop(const std::string& name);

}  // namespace hearth::nn::skip
