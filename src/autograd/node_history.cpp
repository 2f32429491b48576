#include "hearth/autograd/history.h"

#include <algorithm>

#include "autograd/node.h"

namespace hearth::autograd {

bool any_variable_requires_grad(const variable_list& variables) {
  return std::any_of(variables.begin(), variables.end(),
                     [](const Tensor& variable) { return variable.requires_grad(); });
}

void set_history(const Tensor& variable, const NodePtr& grad_fn) {
  HEARTH_CHECK(grad_fn, "set_history: the node is null");
  const uint32_t number = grad_fn->add_input_metadata(variable);
  if (!variable.defined()) return;
  HEARTH_CHECK(is_differentiable(variable.scalar_type()),
               "Autograd not support dtype: ", name_of(variable.scalar_type()));
  set_history(variable, grad_fn, number);
}

void set_history(const variable_list& variables, const NodePtr& grad_fn) {
  for (const Tensor& variable : variables) set_history(variable, grad_fn);
}

void create_gradient_edge(Tensor& variable, const NodePtr& function) {
  set_history(variable, function, function->add_input_metadata(variable));
}

NodePtr rebase_history(const Tensor& variable, const NodePtr& grad_fn) {
  if (!grad_fn || !variable.defined()) return grad_fn;
  grad_fn->add_input_metadata(variable);
  return impl::rebase_history(variable, {grad_fn, 0});
}

NodePtr rebase_history(const variable_list& variables, const NodePtr& grad_fn) {
  NodePtr attached = grad_fn;
  for (const Tensor& variable : grad_fn ? variables : variable_list()) {
    const uint32_t number = grad_fn->add_input_metadata(variable);
    if (variable.defined()) attached = impl::rebase_history(variable, {grad_fn, number});
  }
  return attached;
}

void increment_version(const Tensor& tensor) { impl::bump_version(tensor); }

void check_no_requires_grad(const Tensor& tensor, const char* name, const char* function,
                            bool check_grad_mode) {
  HEARTH_CHECK(!tensor.requires_grad() || (check_grad_mode && !GradMode::is_enabled()),
               "The function '", function, "' is not differentiable with respect to argument '",
               name, "'. This input cannot have requires_grad True.");
}

void check_input_variables(const char* name, const variable_list& inputs, int args,
                           int required_args, bool allow_undefined) {
  const auto required = static_cast<size_t>(required_args < 0 ? args : required_args);
  HEARTH_CHECK(inputs.size() == static_cast<size_t>(args), name, ": expected ", args,
               " arguments (got ", inputs.size(), ")");
  for (size_t i = 0; i < required; ++i)
    HEARTH_CHECK(inputs[i].defined() || allow_undefined, name, ": expected Tensor at argument ", i,
                 " (got None)");
}

variable_list wrap_outputs(const variable_list& inputs, variable_list&& outputs,
                           const function_constructor& constructor) {
  const bool needs_grad = any_variable_requires_grad(inputs);
  variable_list wrapped;
  for (const Tensor& output : outputs) wrapped.push_back(make_variable(output));
  if (!needs_grad) return wrapped;
  const NodePtr node =
      constructor(GradMode::is_enabled() ? collect_next_edges(inputs) : edge_list());
  set_history(wrapped, node);
  return wrapped;
}

Tensor as_view(const Tensor& base, const Tensor& tensor, bool is_bw_differentiable, bool,
               const std::function<Tensor(const Tensor&)>&,
               const std::function<Tensor(const Tensor&)>&, CreationMeta creation_meta, bool) {
  using enum ViewOrigin;
  static constexpr ViewOrigin kOrigins[] = {kDefault, kCustomFunction, kMultipleOutputs, kNoGrad,
                                            kInference};
  if (base.is_inference()) return tensor;
  HEARTH_CHECK(!base.is_same(tensor),
               "View operation returned a tensor that is the same as the input base tensor.  This "
               "is no longer allowed; you must explicitly create a new tensor (e.g., using "
               ".detach()).");
  if (is_bw_differentiable) {
    record_view(tensor, base, kOrigins[static_cast<size_t>(creation_meta)]);
  } else {
    HEARTH_CHECK(creation_meta == CreationMeta::DEFAULT,
                 "Non-backward differentiable views must have creation_meta=CreationMeta::DEFAULT");
    impl_of(tensor).share_version(impl_of(base));
  }
  return tensor;
}

uint32_t VariableVersion::current_version() const { return impl_of(owner_).version(); }

struct VersionAccess {
  static TensorImpl& owner(const VariableVersion& version) { return impl_of(version.owner_); }
};

namespace impl {

void set_gradient_edge(const Tensor& tensor, Edge edge) {
  if (edge.is_valid()) return set_history(tensor, std::move(edge.function), edge.input_nr);
  TensorState& state = state_of(impl_of(tensor));
  state.grad_fn.reset();
  state.output_nr = edge.input_nr;
  impl_of(tensor).flags &= ~uint32_t(kHasGradFn);
}

NodePtr grad_accumulator(const Tensor& leaf) {
  HEARTH_CHECK(leaf.is_leaf(), "grad_accumulator() should be only called on leaf Variables");
  return gradient_edge(leaf).function;
}

NodePtr try_get_grad_accumulator(const Tensor& leaf) {
  TensorState* const state = state_if_any(impl_of(leaf));
  if (!state) return nullptr;
  const std::lock_guard lock(state->mutex);
  const bool alive = state->accumulator && state->accumulator->retain_if_alive();
  return alive ? NodePtr::adopt(state->accumulator) : NodePtr();
}

Node* grad_fn_unsafe(const Tensor& tensor) { return grad_fn_of(tensor).get(); }

NodePtr rebase_history(const Tensor& tensor, Edge edge) {
  if (!tensor.is_view()) {
    set_history(tensor, edge.function, edge.input_nr);
    return edge.function;
  }
  HEARTH_CHECK(edge.input_nr == 0,
               "Functions which modify views in-place must return a single "
               "Variable");
  rewrite_history(tensor, edge.function);
  return tensor.grad_fn();
}

void bump_version(const Tensor& tensor) { impl_of(tensor).bump_version(); }
VariableVersion version_counter(const Tensor& tensor) { return VariableVersion(tensor); }
void set_version_counter(const Tensor& tensor, const VariableVersion& version) {
  impl_of(tensor).share_version(VersionAccess::owner(version));
}
void set_name(const Tensor& tensor, const std::string& name) {
  state_of(impl_of(tensor)).name = name;
}

void add_hook(const Tensor& tensor, std::unique_ptr<FunctionPreHook> hook) {
  const std::shared_ptr<FunctionPreHook> shared(std::move(hook));
  tensor.register_hook([shared](const Tensor& grad) { return (*shared)({grad}).at(0); });
}

void clear_hooks(const Tensor& tensor) {
  TensorState* const state = state_if_any(impl_of(tensor));
  if (!state) return;
  const std::lock_guard lock(state->mutex);
  if (!state->hooks) return;
  const std::lock_guard hooks_lock(state->hooks->mutex);
  for (TensorHook& hook : state->hooks->hooks) hook.hook.reset();
}

void set_post_acc_grad_hooks(const Tensor& leaf, std::unique_ptr<PostAccumulateGradHook> hook) {
  TensorState& state = state_of(impl_of(leaf));
  {
    const std::lock_guard lock(state.mutex);
    state.after_accumulate.reset();
  }
  const std::shared_ptr<PostAccumulateGradHook> shared(std::move(hook));
  if (shared)
    register_post_accumulate_grad_hook(leaf, [shared](const Tensor& value) { (*shared)(value); });
}

}  // namespace impl
}  // namespace hearth::autograd
