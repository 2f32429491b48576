#pragma once

#include <vector>

#include "ATen/WrapDimUtils.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/from_blob.h"
#include "c10/util/accumulate.h"

namespace at {

/// Whether elements with these strides are contiguous in memory.
inline bool geometry_is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

/// Sizes, strides and offset of a tensor, without its elements.
class TensorGeometry {
 public:
  TensorGeometry() = default;
  explicit TensorGeometry(IntArrayRef sizes)
      : sizes_(sizes.vec()), strides_(hearth::detail::defaultStrides(sizes)) {}
  explicit TensorGeometry(const Tensor& t)
      : sizes_(t.sizes().vec()), strides_(t.strides().vec()), offset_(t.storage_offset()) {}
  bool is_contiguous() const { return geometry_is_contiguous(sizes_, strides_); }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t size(int64_t dim) const { return sizes_.at(maybe_wrap_dim(dim, this->dim())); }
  int64_t stride(int64_t dim) const { return strides_.at(maybe_wrap_dim(dim, this->dim())); }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t storage_offset() const { return offset_; }
  int64_t numel() const { return c10::multiply_integers(sizes_); }

 private:
  std::vector<int64_t> sizes_, strides_;
  int64_t offset_ = 0;
};

}  // namespace at
