#pragma once

#include <functional>
#include <vector>

#include "core/op.h"

namespace hearth {

/// Sets the gradients of a backward kernel's inputs: `formula` computes the kernel's outputs from
/// its first `num_inputs` inputs with differentiable ops. Undefined inputs stay undefined; an
/// output may be undefined.
void composed_gradient(GradContext& context, int num_inputs,
                       const std::function<std::vector<Tensor>(const Tensor* in)>& formula);

/// Throws if `input`, for which `op` has no derivative, requires grad and gradients are recorded.
void check_no_gradient(const Tensor& input, const char* op, const char* name);

}  // namespace hearth
