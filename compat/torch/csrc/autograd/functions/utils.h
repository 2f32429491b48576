#pragma once

#include <algorithm>
#include <optional>

#include "torch/csrc/autograd/function.h"

namespace hearth::autograd {

/// Whether one of the tensors requires a gradient.
inline bool any_variable_requires_grad(const tensor_list& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.defined() && tensor.requires_grad();
  });
}

/// Whether gradients are recorded and one of the tensors requires one.
template <class... Tensors>
bool compute_requires_grad(const Tensors&... tensors) {
  return GradMode::is_enabled() && any_variable_requires_grad({tensors...});
}

}  // namespace hearth::autograd
