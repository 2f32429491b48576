#pragma once

#include "core/modes.h"
#include "core/tensor_impl.h"
#include "hearth/tensor.h"

namespace hearth::autograd {

struct TensorState;

/// The tangent of a tensor in forward-mode AD; undefined if it has none. That of a view may be part
/// of its base's tangent.
Tensor tangent_of(const Tensor& tensor);
/// Whether a derivative of the result of an op on this tensor may be wanted, in either mode.
inline bool wants_derivative(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  return (modes.records() && tensor.requires_grad()) ||
         (modes.computes_tangents() && tangent_of(tensor).defined());
}
/// Gives a tensor a tangent. Its strides become the tensor's, so that a view of the tensor has a
/// view of the tangent.
void set_tangent(const Tensor& tensor, const Tensor& tangent);
/// Gives a view its tangent, a view of its base's.
void set_view_tangent(const Tensor& view, Tensor tangent);
/// Sets the tangent after an in-place op, in place if the tensor has one, else also that of its
/// base. An undefined one stands for zeros.
void update_tangent(const Tensor& tensor, const Tensor& tangent);

/// Removes the tangent.
void drop_tangent(TensorState& state);
/// Called when a state that has a tangent is destroyed.
void forget_tangent(TensorState& state);
/// Throws unless the tensor may be replaced by `method`, which its tangent would not notice.
void refuse_tangent(const Tensor& tensor, const char* method);

/// Gives `alias` the tangent of `tensor`, for saved tensors.
inline void copy_tangent(const Tensor& alias, const Tensor& tensor) {
  if (!dual_level_is_active.load(std::memory_order_relaxed)) [[likely]]
    return;
  if (const Tensor tangent = tangent_of(tensor); tangent.defined())
    set_view_tangent(alias, tangent);
}

}  // namespace hearth::autograd
