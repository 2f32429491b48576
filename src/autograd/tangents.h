#pragma once

#include "core/modes.h"
#include "core/tensor_impl.h"
#include "hearth/tensor.h"

namespace hearth::autograd {

struct TensorState;

/// Whether this thread computes tangents.
inline bool computes_tangents() {
  return modes.forward_grad_enabled && !(modes.flags & kInferenceMode);
}

/// The tangent of a tensor in forward-mode AD; undefined if it has none. That of a view may be part
/// of its base's tangent.
Tensor tangent_of(const Tensor& tensor);
/// Whether a derivative of the result of an op on this tensor may be wanted, in either mode.
inline bool wants_derivative(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  return (modes.records() && tensor.requires_grad()) ||
         (computes_tangents() && tangent_of(tensor).defined());
}
/// Gives a tensor a tangent. Its strides become the tensor's, so that a view of the tensor has a
/// view of the tangent.
void set_tangent(const Tensor& tensor, const Tensor& tangent);
/// Gives a view its tangent, a view of its base's.
void set_view_tangent(const Tensor& view, const Tensor& tangent);
/// Sets the tangent after an in-place op, in place if the tensor has one, else also that of its
/// base. An undefined one stands for zeros.
void update_tangent(const Tensor& tensor, const Tensor& tangent);

/// Called when a state with a tangent is destroyed.
void forget_tangent(TensorState& state);

/// Gives `alias` the tangent of `tensor`, for saved tensors.
inline void copy_tangent(const Tensor& alias, const Tensor& tensor) {
  if (!(modes.flags & kDualLevel) && !impl_of(tensor).has(kHasTangent)) [[likely]]
    return;
  if (const Tensor tangent = tangent_of(tensor); tangent.defined())
    set_view_tangent(alias, tangent);
}

}  // namespace hearth::autograd
