#pragma once

#include <functional>
#include <vector>

#include "core/op.h"

namespace hearth {

/// The gradient of an op whose outputs are formula(inputs), plain code over its first `inputs`
/// inputs: what a backward kernel computes, written once more with ordinary ops so that it has a
/// derivative. Undefined inputs stay undefined; an output may be undefined.
void composed_gradient(GradContext& context, int inputs,
                       const std::function<std::vector<Tensor>(const Tensor* in)>& formula);

/// The check of an op that has no derivative with respect to one of its inputs.
void check_no_gradient(const Tensor& input, const char* op, const char* name);

}  // namespace hearth
