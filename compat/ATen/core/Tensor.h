#pragma once

#include "ATen/core/DeprecatedTypeProperties.h"
#include "c10/namespaces.h"
#include "hearth/tensor.h"

namespace at {
using TensorBase = hearth::Tensor;
}  // namespace at
namespace torch {
using at::TensorBase;
}  // namespace torch
