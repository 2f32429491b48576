#pragma once

#include <vector>

#include "hearth/tensor.h"

namespace hearth::distributed {

/// One flat tensor with a view for each of several tensors of equal dtype and device, so that one
/// collective moves all of them. A view has the strides of its tensor if that is dense, so that
/// copies between them are linear.
class FlatTensor {
 public:
  FlatTensor() = default;
  /// Zeros, with a view of the layout of each tensor.
  explicit FlatTensor(const std::vector<Tensor>& like);

  const Tensor& buffer() const { return buffer_; }
  const std::vector<Tensor>& views() const { return views_; }
  void pack(const std::vector<Tensor>& tensors) const;    ///< copies the tensors into the views
  void unpack(const std::vector<Tensor>& tensors) const;  ///< copies the views into the tensors

 private:
  Tensor buffer_;
  std::vector<Tensor> views_;
};

/// Views of parts of a flat tensor, one after another, with the layouts of `like`.
std::vector<Tensor> views_of_flat(const Tensor& flat, const std::vector<Tensor>& like);

}  // namespace hearth::distributed
