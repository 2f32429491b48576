#pragma once

#include <vector>

#include "ATen/ATen.h"

namespace torch::utils {

/// The elements of all tensors in one dimension.
inline Tensor flatten_dense_tensors(TensorList tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& t : tensors) flat.push_back(t.contiguous().view({-1}));
  return cat(flat);
}

/// Views of the parts of `flat`, with the sizes of the tensors.
inline std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors) {
  std::vector<Tensor> parts;
  int64_t offset = 0;
  for (const Tensor& t : tensors) {
    parts.push_back(flat.narrow(0, offset, t.numel()).view(t.sizes()));
    offset += t.numel();
  }
  return parts;
}

}  // namespace torch::utils
