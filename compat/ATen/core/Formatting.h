#pragma once

#include <iostream>

#include "ATen/core/Tensor.h"

namespace at {

/// Prints a tensor as << does; the width of a line is fixed.
inline std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t /*linesize*/) {
  return stream << tensor;
}
inline void print(const Tensor& tensor, int64_t linesize = 80) {
  print(std::cout, tensor, linesize);
}

}  // namespace at

namespace torch {
using at::print;
}  // namespace torch
