#pragma once

#include <vector>

#include "hearth/hearth.h"
#include "tests/support/op_table.h"

namespace hearth::testing {

/// The elements of all tensors in one vector.
inline std::vector<double> elements(const Tensors& tensors) {
  std::vector<double> result;
  for (const Tensor& t : tensors)
    for (const double value : to_array(t).values) result.push_back(value);
  return result;
}

/// A leaf with the elements `values`, and with the gradient `grad` if that is not empty.
inline Tensor leaf(const std::vector<double>& values, const std::vector<double>& grad,
                   ScalarType dtype = kDouble, Device device = kCPU) {
  const auto make = [&](const std::vector<double>& from) {
    return tensor(from, kDouble).to(device, dtype);
  };
  const Tensor param = make(values).requires_grad_();
  if (!grad.empty()) param.mutable_grad() = make(grad);
  return param;
}

}  // namespace hearth::testing
