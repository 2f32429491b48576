#pragma once

#include <tuple>

#include "c10/namespaces.h"
#include "hearth/tensor.h"

namespace hearth {

/// (The distinct elements, the position of each element of self among them).
inline std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted = true,
                                          bool return_inverse = false) {
  auto [values, inverse, counts] = _unique2(self, sorted, return_inverse);
  return {values, inverse};
}

}  // namespace hearth
