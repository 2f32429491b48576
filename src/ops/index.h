#pragma once

#include <vector>

#include "hearth/tensor.h"

namespace hearth {

/// Whether an index tensor is a mask: of bool or, as in old versions of PyTorch, of uint8.
inline bool is_mask(const Tensor& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

/// self[indices]: indices[d] indexes dimension d of self. A mask indexes mask.dim() dimensions from
/// d on, so the next mask.dim() - 1 indices in the list must be undefined. Otherwise, an undefined
/// index selects all elements.
Tensor index_by(const Tensor& self, const std::vector<Tensor>& indices);
/// self[indices] = values, or += values.
void index_put_by(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& values,
                  bool accumulate);

}  // namespace hearth
