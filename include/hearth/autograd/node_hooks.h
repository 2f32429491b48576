#pragma once

#include <memory>

#include "hearth/autograd.h"

namespace hearth::autograd {

/// LibTorch's form of a hook that replaces a node's gradients before apply().
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual variable_list operator()(const variable_list& grads) = 0;
};

/// LibTorch's form of a hook that replaces the results of apply().
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual variable_list operator()(const variable_list& outputs, const variable_list& inputs) = 0;
};

/// LibTorch's form of a hook that runs after a leaf's gradient was accumulated.
struct PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const Tensor& leaf) = 0;
};

}  // namespace hearth::autograd
