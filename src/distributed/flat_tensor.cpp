#include "distributed/flat_tensor.h"

#include "hearth/autograd_hooks.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

int64_t total_of(const std::vector<Tensor>& tensors) {
  int64_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.numel();
  return total;
}

void copy_all(const std::vector<Tensor>& to, const std::vector<Tensor>& from) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < to.size(); ++i) Tensor(to[i].detach()).copy_(from[i]);
}

}  // namespace

std::vector<Tensor> views_of_flat(const Tensor& flat, const std::vector<Tensor>& like) {
  std::vector<Tensor> views;
  int64_t start = 0;
  for (const Tensor& tensor : like) {
    const Tensor part = flat.narrow(0, start, tensor.numel());
    views.push_back(tensor.is_non_overlapping_and_dense()
                        ? part.as_strided(tensor.sizes(), tensor.strides())
                        : part.view(tensor.sizes()));
    start += tensor.numel();
  }
  return views;
}

FlatTensor::FlatTensor(const std::vector<Tensor>& like) {
  const NoGradGuard no_grad;
  buffer_ = zeros({total_of(like)}, like.front().options().requires_grad(false));
  // make_variable() turns each view into a leaf: detach_(), and so zero_grad(), refuses views that
  // autograd knows.
  for (const Tensor& view : views_of_flat(buffer_, like))
    views_.push_back(autograd::make_variable(view));
}

void FlatTensor::pack(const std::vector<Tensor>& tensors) const { copy_all(views_, tensors); }

void FlatTensor::unpack(const std::vector<Tensor>& tensors) const { copy_all(tensors, views_); }

}  // namespace hearth::distributed
