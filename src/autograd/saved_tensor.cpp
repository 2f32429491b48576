#include "autograd/saved_tensor.h"

#include <any>
#include <string_view>

#include "autograd/saved_hooks.h"
#include "autograd/state.h"
#include "autograd/tangents.h"
#include "core/modes.h"
#include "core/op_reuse.h"
#include "hearth/autograd/saved_variable.h"

namespace hearth::autograd {

struct SavedTensor::Packed {
  IntrusivePtr<SavedHooks> hooks;
  std::any value;
  Tensor dual;  // without memory, with the tensor's tangent while its level lasts; or undefined
};

namespace {

/// The value of a tensor without its history, but with its tangent.
Tensor alias_of(const Tensor& tensor) {
  const Tensor alias = shallow_alias(tensor, true);
  copy_tangent(alias, tensor);
  return alias;
}

}  // namespace

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
  const bool is_leaf = impl.has(kRequiresGrad) && !own_output;
  is_number_ = impl.has(kWrappedNumber);
  const bool has_hooks = modes.saved_hooks != nullptr && !is_number_;
  const bool is_saved_itself = is_leaf && !has_hooks;
  if (!own_output && requires_grad(impl) && !is_saved_itself) history_ = gradient_edge(tensor);
  if (has_hooks) [[unlikely]] {
    pack(tensor, IntrusivePtr<SavedHooks>::share(modes.saved_hooks));
    return;
  }
  version_ = impl.version();
  tensor_ = is_leaf ? tensor : alias_of(tensor);
}

void SavedTensor::set_hooks(IntrusivePtr<SavedHooks> hooks) {
  if (!own_output_ && !history_.is_valid() && requires_grad(impl_of(tensor_)))
    history_ = gradient_edge(tensor_);
  pack(tensor_, std::move(hooks));
  tensor_.reset();
}

void SavedTensor::pack(const Tensor& tensor, IntrusivePtr<SavedHooks> hooks) {
  packed_.reset(new Packed{std::move(hooks), {}, {}});
  if (const Tensor tangent = tangent_of(tensor); tangent.defined()) {
    packed_->dual = new_tensor(tensor.scalar_type(), tensor.device());
    set_view_tangent(packed_->dual, tangent);
  }
  const AutoGradMode off(false);
  const OpReuseGuard no_reuse(nullptr);
  const uint32_t version = impl_of(tensor).version();
  packed_->value = packed_->hooks->pack(tensor.detach());
  HEARTH_CHECK(impl_of(tensor).version() == version,
               "A saved tensor pack hook is modifying its input in place. Tensors provided as "
               "input to pack hook can "
               "not be modified by in-place operations as this can lead to unexpected "
               "side-effects. Please open an "
               "issue if you need to perform in-place operations on the input to a pack hook.");
}

Tensor SavedTensor::with_history(Tensor value, Node* node) const {
  if (own_output_)
    set_history(value, NodePtr::share(node), output_nr_);
  else if (history_.is_valid())
    set_history(value, history_.function, history_.input_nr);
  return value;
}

Tensor SavedTensor::unpack(Node* node) const {
  if (packed_) {
    const AutoGradMode off(false);
    const OpReuseGuard no_reuse(nullptr);
    const Tensor value = packed_->hooks->unpack(packed_->value);
    HEARTH_CHECK_AS(TypeError, value.defined(),
                    "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                    "type NoneType");
    const Tensor alias = shallow_alias(value, false);
    if (packed_->dual.defined()) copy_tangent(alias, packed_->dual);
    return with_history(alias, node);
  }
  if (!tensor_.defined()) return {};
  check_version(node);
  if (!own_output_ && !history_.is_valid()) return tensor_;
  return with_history(alias_of(tensor_), node);
}

void SavedTensor::check_version(Node* node) const {
  const TensorImpl& impl = impl_of(tensor_);
  if (impl.version() == version_) return;
  const Node* producer = own_output_ ? node : history_.function.get();
  const uint32_t number = own_output_ ? output_nr_ : history_.input_nr;
  std::string what = detail::str("[", tensor_.toString(), " ", tensor_.sizes(), "]");
  if (producer && !is_integral(impl.dtype, true))  // indices have no grad_fn
    what += detail::str(", which is output ", number, " of ", producer->forward_op_name(), ",");
  fail_modified(what, impl.version(), version_,
                "Hint: enable anomaly detection to find the operation that failed to compute its "
                "gradient, with torch.autograd.set_detect_anomaly(True) (DetectAnomalyGuard).");
}

void fail_modified(const std::string& what, int64_t version, int64_t expected, const char* hint) {
  detail::fail<hearth::Error>(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: ",
      what, " is at version ", version, "; expected version ", expected, " instead. ", hint);
}

const char* const ERR_BACKWARD_TWICE =
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you "
    "need to access "
    "saved tensors after calling backward.";

void fail_released(const Node& node) {
  detail::fail<hearth::Error>(ERR_BACKWARD_TWICE, " (in ", node.name(), ")");
}

}  // namespace hearth::autograd
