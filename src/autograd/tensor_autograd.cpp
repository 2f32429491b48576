// The methods of Tensor that belong to autograd.
#include "autograd/node.h"
#include "autograd/state.h"
#include "autograd/tangents.h"
#include "core/modes.h"
#include "hearth/memory_stats.h"

namespace hearth {

using autograd::state_if_any;
using autograd::state_of;

namespace {

/// Returns the implementation of a tensor; throws an error that names `method` if it is undefined.
TensorImpl& defined_impl(const Tensor& tensor, const char* method = "get_autograd_meta") {
  HEARTH_CHECK(tensor.defined(), "cannot call ", method, "() on undefined tensor");
  return impl_of(tensor);
}

}  // namespace

bool Tensor::requires_grad() const { return defined() && autograd::requires_grad(impl_of(*this)); }

bool Tensor::is_leaf() const {
  const TensorImpl& impl = defined_impl(*this);
  return !impl.has(kHasGradFn) && (!impl.has(kIsView) || !autograd::grad_fn_of(*this));
}

const Tensor& Tensor::requires_grad_(bool value) const {
  TensorImpl& impl = defined_impl(*this);
  HEARTH_CHECK(
      !impl.has(kInference) || !value || modes.flags & kInferenceMode,
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  HEARTH_CHECK(is_leaf() || value,
               "you can only change requires_grad flags of leaf variables. If you want to use a "
               "computed variable in a "
               "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  HEARTH_CHECK(
      !value || is_differentiable(impl.dtype),
      "Only Tensors of floating point and complex dtype can require gradients (this one is ",
      name_of(impl.dtype), ")");
  if (value) state_of(impl);  // created now, before other threads use the tensor
  if (is_leaf())
    impl.flags = value ? impl.flags | kRequiresGrad : impl.flags & ~uint32_t(kRequiresGrad);
  return *this;
}

int64_t Tensor::output_nr() const {
  const autograd::TensorState* state = state_if_any(defined_impl(*this));
  autograd::grad_fn_of(*this);  // updates the history of a view
  return state ? state->output_nr : 0;
}

const Tensor& Tensor::grad() const {
  static const Tensor none;
  const autograd::TensorState* state = state_if_any(defined_impl(*this));
  const bool has_grad = state && (state->retained || state->grad.defined());
  if (!is_leaf() && !has_grad)
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated "
        "for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
        "mistake, make sure "
        "you access the leaf Tensor instead.");
  return state ? state->grad : none;
}

Tensor& Tensor::mutable_grad() const { return state_of(defined_impl(*this)).grad; }

const autograd::NodePtr& Tensor::grad_fn() const {
  defined_impl(*this);
  return autograd::grad_fn_of(*this);
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<ArrayRef<Tensor>> inputs) const {
  defined_impl(*this);
  HEARTH_CHECK(!inputs || !inputs->empty(), "'inputs' argument to backward cannot be empty");
  HEARTH_CHECK(requires_grad(),
               "element 0 of tensors does not require grad and does not have a grad_fn");
  autograd::variable_list gradients;
  if (gradient.defined()) gradients.push_back(gradient);
  autograd::backward({*this}, gradients, retain_graph, create_graph,
                     inputs ? inputs->vec() : autograd::variable_list());
}

namespace {

/// Returns the list of hooks on a tensor's current value, created if needed. Backward may be
/// reading it on other threads.
autograd::TensorHooks& hooks_for(autograd::TensorState& state, const autograd::NodePtr& fn) {
  const std::lock_guard lock(state.mutex);
  if (!state.hooks || state.hooked_node != fn.get()) {
    state.hooked_node = fn.get();
    state.hooks = std::make_shared<autograd::TensorHooks>();
    if (fn) {
      autograd::NodeState& node = autograd::NodeAccess::state(*fn);
      const std::lock_guard node_lock(node.mutex);
      node.tensor_hooks.push_back({state.output_nr, state.hooks});
    }
  }
  return *state.hooks;
}

std::shared_ptr<autograd::TensorHooks> hooks_of(autograd::TensorState& state) {
  const std::lock_guard lock(state.mutex);
  return state.hooks;
}

}  // namespace

unsigned Tensor::add_hook(std::unique_ptr<detail::GradHook> hook) const {
  HEARTH_CHECK(requires_grad(),
               "cannot register a hook on a variable that doesn't require gradient");
  const autograd::NodePtr fn = grad_fn();
  autograd::TensorHooks& list = hooks_for(state_of(impl_of(*this)), fn);
  const std::lock_guard lock(list.mutex);
  const unsigned id = static_cast<unsigned>(list.hooks.size());
  list.hooks.push_back({id, std::shared_ptr<detail::GradHook>(std::move(hook))});
  return id;
}

void Tensor::remove_hook(unsigned index) const {
  autograd::TensorState* state = state_if_any(defined_impl(*this, "materialize_autograd_meta"));
  const auto list = state ? hooks_of(*state) : nullptr;
  HEARTH_CHECK(list, "Invalid index, no hook at position ", index);
  const std::lock_guard lock(list->mutex);
  HEARTH_CHECK(index < list->hooks.size(), "Invalid index, no hook at position ", index);
  list->hooks[index].hook.reset();
}

void Tensor::retain_grad() const {
  HEARTH_CHECK(requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  const autograd::NodePtr fn = grad_fn();
  if (!fn) return;  // a leaf keeps it anyway
  autograd::TensorState& state = state_of(impl_of(*this));
  if (state.retained) return;
  state.retained = std::make_shared<autograd::RetainedGrad>();
  state.retained->owner = &state;
  autograd::NodeState& node = autograd::NodeAccess::state(*fn);
  const std::lock_guard lock(node.mutex);
  node.retained.push_back({state.output_nr, state.retained});
}

bool Tensor::retains_grad() const {
  const autograd::TensorState* state = state_if_any(defined_impl(*this));
  return !is_leaf() && state && state->retained;
}

Tensor Tensor::variable_data() const {
  defined_impl(*this, "variable_data");
  return shallow_alias(*this, false);
}
Tensor Tensor::tensor_data() const {
  defined_impl(*this, "tensor_data");
  return shallow_alias(*this, false);
}

Tensor Tensor::detach() const {
  HEARTH_CHECK(defined(), "Expected a proper Tensor but got None (or an undefined Tensor in C++)");
  // A view of all elements without history; in-place writes to it count as writes to this tensor.
  return shallow_alias(*this, true);
}

Tensor& Tensor::detach_() const {
  TensorImpl& impl = defined_impl(*this);
  HEARTH_CHECK(!is_view(),
               "Can't detach views in-place. Use detach() instead. If you are using "
               "DistributedDataParallel (DDP) for "
               "training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
               "buckets, and hence "
               "detach_() cannot be called on these gradients.");
  if (autograd::TensorState* state = state_if_any(impl)) {
    state->grad_fn.reset();
    state->output_nr = 0;
    autograd::drop_tangent(*state);
  }
  impl.flags &= ~uint32_t(kRequiresGrad | kHasGradFn);
  return const_cast<Tensor&>(*this);
}

void Tensor::set_data(const Tensor& source) const {
  HEARTH_CHECK(defined() && source.defined(),
               "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
               "incompatible tensor type.");
  TensorImpl& impl = impl_of(*this);
  const TensorImpl& from = impl_of(source);
  HEARTH_CHECK(
      is_differentiable(from.dtype) || !requires_grad(),
      "data set to a tensor that requires gradients must be floating point or complex dtype");
  const bool same_metadata =
      impl.dtype == from.dtype && impl.device == from.device && impl.sizes().equals(from.sizes());
  // A parameter stays one when its values are replaced; so does a gradient.
  const MemoryTag tag = memory_tag(*this);
  if (tag == MemoryTag::Parameter || tag == MemoryTag::Gradient) set_memory_tag(source, tag);
  impl.dtype = from.dtype;
  impl.device = from.device;
  impl.storage = from.storage;
  impl.offset = from.offset;
  impl.set_geometry(from.sizes(), from.strides());
  if (autograd::TensorState* state = state_if_any(impl); state && !same_metadata)
    autograd::drop_accumulator(*state);
}

int64_t Tensor::_version() const {
  if (!defined()) return 0;
  HEARTH_CHECK(!impl_of(*this).has(kInference), "Inference tensors do not track version counter.");
  return impl_of(*this).version();
}

bool Tensor::is_inference() const { return defined() && impl_of(*this).has(kInference); }
bool Tensor::is_view() const { return autograd::view_info(defined_impl(*this)) != nullptr; }

const Tensor& Tensor::_base() const {
  const autograd::ViewInfo* view = autograd::view_info(defined_impl(*this));
  HEARTH_CHECK(view, "Can't get base of non-view Variable");
  return view->base;
}

const std::string& Tensor::name() const {
  static const std::string none;
  const autograd::TensorState* state = state_if_any(defined_impl(*this, "variable_data"));
  return state ? state->name : none;
}

}  // namespace hearth
