#include "autograd/saved_tensor.h"

#include <any>

#include "autograd/saved_hooks.h"
#include "autograd/state.h"
#include "core/modes.h"

namespace hearth::autograd {

struct SavedTensor::Packed {
  SavedHooks hooks;
  std::any value;
  Edge history;  // of the tensor, unless it is the node's own output
};
void SavedTensor::DeletePacked::operator()(Packed* packed) const { delete packed; }

SavedTensor::SavedTensor(const Tensor& tensor, bool own_output, uint32_t output_nr)
    : output_nr_(output_nr), own_output_(own_output) {
  if (!tensor.defined()) return;
  TensorImpl& impl = impl_of(tensor);
  HEARTH_CHECK(
      !impl.has(kInference) || modes.flags & kInferenceMode,
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
      "inference mode "
      "in computation tracked by autograd. To work around this, you can make a clone to get a "
      "normal tensor "
      "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  if (current_saved_hooks()) [[unlikely]] {
    pack(tensor);
    return;
  }
  version_ = impl.version();
  // The node must not own its own output, which owns the node.
  tensor_ = own_output ? shallow_alias(tensor, true) : tensor;
}

void SavedTensor::pack(const Tensor& tensor) {
  packed_.reset(
      new Packed{current_saved_hooks(), {}, own_output_ ? Edge() : gradient_edge(tensor)});
  const AutoGradMode off(false);
  const uint32_t version = impl_of(tensor).version();
  packed_->value = packed_->hooks->pack(tensor.detach());
  HEARTH_CHECK(impl_of(tensor).version() == version,
               "A saved tensor pack hook is modifying its input in place. Tensors provided as "
               "input to pack hook can "
               "not be modified by in-place operations as this can lead to unexpected "
               "side-effects. Please open an "
               "issue if you need to perform in-place operations on the input to a pack hook.");
}

Tensor SavedTensor::unpack_with_hooks(Node* node) const {
  Tensor result;
  {
    const AutoGradMode off(false);
    result = shallow_alias(packed_->hooks->unpack(packed_->value), false);
  }
  if (own_output_)
    set_history(result, NodePtr::share(node), output_nr_);
  else if (packed_->history.is_valid())
    set_history(result, packed_->history.function, packed_->history.input_nr);
  return result;
}

Tensor SavedTensor::unpack(Node* node) const {
  if (packed_) return unpack_with_hooks(node);
  if (!tensor_.defined()) return {};
  const TensorImpl& impl = impl_of(tensor_);
  if (impl.version() != version_) {
    const NodePtr& fn = own_output_ ? NodePtr() : grad_fn_of(tensor_);
    const uint32_t number = own_output_ ? output_nr_ : uint32_t(tensor_.output_nr());
    const std::string made_by = own_output_ ? node->name() : fn ? fn->name() : std::string();
    detail::fail<Error>(
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.",
        impl.device.is_cuda() ? "cuda." : "", name_of(impl.dtype), "Tensor ", tensor_.sizes(), "]",
        made_by.empty() ? std::string()
                        : detail::str(", which is output ", number, " of ", made_by, ","),
        " is at version ", impl.version(), "; expected version ", version_,
        " instead. Hint: enable anomaly detection to find the operation that failed to compute its "
        "gradient, with "
        "torch.autograd.set_detect_anomaly(True) (DetectAnomalyGuard).");
  }
  if (!own_output_) return tensor_;
  Tensor result = shallow_alias(tensor_, true);
  set_history(result, NodePtr::share(node), output_nr_);
  return result;
}

void fail_released(const Node& node) {
  detail::fail<Error>(
      "Trying to backward through the graph a second time (or directly access saved tensors after "
      "they have already "
      "been freed). Saved intermediate values of the graph are freed when you call .backward() or "
      "autograd.grad(). "
      "Specify retain_graph=True if you need to backward through the graph a second time or if you "
      "need to access "
      "saved tensors after calling backward. (in ",
      node.name(), ")");
}

}  // namespace hearth::autograd
