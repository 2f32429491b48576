#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "ATen/TensorIndexing.h"
#include "hearth/ivalue_conversions.h"
#include "hearth/tensor.h"

namespace hearth::detail {
/// The tensors as indices; missing and undefined tensors become slices of whole dimensions.
inline std::vector<indexing::TensorIndex> as_indices(ArrayRef<std::optional<Tensor>> tensors) {
  std::vector<indexing::TensorIndex> indices;
  for (const std::optional<Tensor>& tensor : tensors)
    indices.push_back(tensor && tensor->defined() ? indexing::TensorIndex(*tensor)
                                                  : indexing::TensorIndex(indexing::Slice()));
  return indices;
}
}  // namespace hearth::detail

namespace at {

/// The elements at the indices, one tensor per dimension; std::nullopt selects a whole dimension.
inline Tensor index(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  return self.index(hearth::detail::as_indices(indices));
}
/// A template, so that lists in braces have one meaning.
template <class T>
requires std::is_same_v<T, std::optional<Tensor>> Tensor
index(const Tensor& self, const hearth::ValueList<T>& indices) {
  return index(self, indices.vec());
}
/// Writes values to the elements at the indices, or adds them if `accumulate`.
inline Tensor& index_put_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                          const Tensor& values, bool accumulate = false) {
  return self.index_put_(hearth::detail::as_indices(indices), values, accumulate);
}
/// index_put_ of a copy.
inline Tensor index_put(const Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                        const Tensor& values, bool accumulate = false) {
  Tensor copy = self.clone();
  return index_put_(copy, indices, values, accumulate);
}

}  // namespace at

namespace torch {
using at::index;
using at::index_put;
using at::index_put_;
}  // namespace torch
