#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "ATen/TensorIndexing.h"
#include "hearth/ivalue_conversions.h"
#include "hearth/tensor.h"

namespace at {

/// The elements at the indices, one tensor per dimension; std::nullopt selects a whole dimension.
inline Tensor index(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  return self.index(indices);
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
  return self.index_put_(indices, values, accumulate);
}
/// index_put_ of a copy.
inline Tensor index_put(const Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                        const Tensor& values, bool accumulate = false) {
  return self.index_put(indices, values, accumulate);
}

}  // namespace at

namespace torch {
using at::index;
using at::index_put;
using at::index_put_;
}  // namespace torch
