#pragma once

#include <cstdint>
#include <vector>

#include "torch/csrc/autograd/variable.h"

namespace hearth::autograd {

/// The metadata of a variable, from which a node makes zeros.
struct VariableInfo {
  VariableInfo() = default;
  explicit VariableInfo(const Tensor& variable)
      : layout(variable.layout()),
        device(variable.device()),
        scalar_type(variable.scalar_type()),
        size(variable.sizes().vec()),
        requires_grad(variable.requires_grad()),
        is_empty(false) {}
  /// LibTorch's functions also pass a device guard.
  template <class... Guard>
  Tensor zeros(Guard&...) const {
    return is_empty ? Tensor() : hearth::zeros(size, TensorOptions(scalar_type).device(device));
  }

  Layout layout = Layout::Strided;
  Device device = DeviceType::CPU;
  ScalarType scalar_type = kFloat;
  std::vector<int64_t> size;
  bool requires_grad = false;
  bool is_empty = true;
};

}  // namespace hearth::autograd
