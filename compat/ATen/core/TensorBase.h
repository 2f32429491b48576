#pragma once

#include "ATen/core/Tensor.h"

// LibTorch's base class of Tensor, with the functions that need no operators.
namespace at {
using TensorBase = Tensor;
}
namespace torch {
using at::TensorBase;
}
