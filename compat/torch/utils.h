#pragma once

#include "ATen/Parallel.h"
#include "torch/csrc/autograd/grad_mode.h"
#include "torch/csrc/autograd/profiler.h"
#include "torch/types.h"

namespace torch {

/// Whether both tensors are undefined, or both are defined and equal.
inline bool equal_if_defined(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}

}  // namespace torch
