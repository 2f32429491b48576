#include "nn/backward_call.h"

#include <algorithm>

#include "hearth/custom_function.h"
#include "hearth/demangle.h"
#include "hearth/nn/module.h"

namespace hearth::nn::detail {

namespace {

/// Identity in forward and backward.
class BackwardHookNode final : public autograd::CustomNode {
 public:
  std::string name() const override { return "BackwardHookFunctionBackward"; }

 protected:
  std::vector<Tensor> call_backward(autograd::AutogradContext*,
                                    std::vector<Tensor> grads) override {
    return grads;
  }
};

/// Passes the tensors through a new node, and returns the node.
autograd::NodePtr pass_through_node(const std::vector<Tensor*>& tensors) {
  const auto node = IntrusivePtr<BackwardHookNode>::adopt(new BackwardHookNode);
  std::vector<Tensor> outputs, without_gradient;
  for (const Tensor* tensor : tensors) {
    node->add_argument(*tensor);
    outputs.push_back(*tensor);
    if (!tensor->requires_grad()) without_gradient.push_back(*tensor);
  }
  node->connect();
  node->context().mark_non_differentiable(without_gradient);
  node->finish(outputs);
  for (size_t i = 0; i < tensors.size(); ++i) *tensors[i] = std::move(outputs[i]);
  return node;
}

void check_count(const char* hook, const char* list, size_t count, size_t expected) {
  HEARTH_CHECK(count == expected, hook, " hook returned an invalid number of ", list, ", got ",
               count, ", but expected ", expected);
}

/// Throws if hooks changed the sizes, dtypes or devices of the gradients.
void check_replaced(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
  for (size_t i = 0; i < before.size(); ++i) {
    const Tensor &was = before[i], &got = after[i];
    if (!was.defined() || !got.defined()) continue;
    HEARTH_CHECK(was.toString() == got.toString(),
                 "hook 'hook' has changed the type of value (was ", was.toString(), " got ",
                 got.toString(), ")");
    HEARTH_CHECK(was.device() == got.device(), "hook 'hook' has changed the location of value");
    HEARTH_CHECK(was.sizes().equals(got.sizes()), "hook 'hook' has changed the size of value");
  }
}

}  // namespace

BackwardCall::BackwardCall(Module& module, const std::shared_ptr<HookTable>& table)
    : module_(module),
      owner_(module.weak_from_this().lock()),
      lifetime_(table),
      pre_hooks_(table->before_backward),
      hooks_(table->after_backward) {}

/// Returns the gradients of all values, given the gradients of the tensors.
BackwardCall::Gradients BackwardCall::TensorIndices::spread(const Gradients& gradients) const {
  Gradients value_gradients(count);
  for (size_t i = 0; i < indices->size(); ++i) value_gradients[(*indices)[i]] = gradients[i];
  return value_gradients;
}

/// Returns the gradients of the tensors, given the gradients of all values.
BackwardCall::Gradients BackwardCall::TensorIndices::gather(
    const Gradients& value_gradients) const {
  Gradients gradients;
  for (const size_t i : *indices) gradients.push_back(value_gradients[i]);
  return gradients;
}

/// Passes the tensors of `values` through a new node, stores their indices, and returns the node.
/// If no tensor requires a gradient, or gradients are off, stores no indices and returns null.
autograd::NodePtr BackwardCall::watch(const std::vector<Tensor*>& values,
                                      TensorIndices& tensor_indices) {
  tensor_indices.count = values.size();
  std::vector<Tensor*> tensors;
  std::vector<size_t> indices;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i] || !values[i]->defined()) continue;
    tensors.push_back(values[i]);
    indices.push_back(i);
  }
  const bool requires_grad = std::any_of(
      tensors.begin(), tensors.end(), [](const Tensor* tensor) { return tensor->requires_grad(); });
  if (!requires_grad || !GradMode::is_enabled()) return {};
  tensor_indices.indices = std::move(indices);
  return pass_through_node(tensors);
}

void BackwardCall::watch_arguments(std::vector<AnyValue>& arguments) {
  std::vector<Tensor*> tensors;
  for (AnyValue& argument : arguments) {
    auto* optional = argument.try_get<std::optional<Tensor>>();
    tensors.push_back(optional && *optional ? &**optional : argument.try_get<Tensor>());
  }
  if (const autograd::NodePtr node = watch(tensors, arguments_))
    node->add_post_hook([self = shared_from_this()](const Gradients& grads, const Gradients&) {
      return self->on_arguments(grads);
    });
}

void BackwardCall::watch_results(const std::vector<Tensor*>& results, const std::type_info& type) {
  if (results.empty())
    warn(
        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
        "but received " +
        demangle(type.name()));
  if (const autograd::NodePtr node = watch(results, results_))
    node->add_post_hook([self = shared_from_this()](const Gradients&, const Gradients& grads) {
      return self->on_results(grads);
    });
}

Module& BackwardCall::module() const {
  HEARTH_CHECK(owner_ || !lifetime_.expired(),
               "A module was destroyed before the backward pass that runs its hooks. A module that "
               "a holder or a std::shared_ptr owns is kept as long as the graph");
  return module_;
}

/// Runs the pre-hooks on the gradients of the results, and returns the gradients that replace them.
/// If no argument requires a gradient, also runs the hooks.
BackwardCall::Gradients BackwardCall::on_results(const Gradients& gradients) {
  Gradients grad_outputs = results_.spread(gradients);
  for (const auto& [id, hook] : pre_hooks_) {
    auto replaced = (*hook)(module(), grad_outputs);
    if (!replaced) continue;
    check_count("Backward pre", "grad_output", replaced->size(), grad_outputs.size());
    grad_outputs = std::move(*replaced);
  }
  if (arguments_.indices) {
    const std::lock_guard lock(mutex_);
    grad_outputs_ = grad_outputs;
  } else if (!hooks_.empty()) {
    run_without_arguments(grad_outputs);
  }
  Gradients replaced = results_.gather(grad_outputs);
  check_replaced(gradients, replaced);
  return replaced;
}

/// Runs the hooks of a call without arguments that require a gradient.
void BackwardCall::run_without_arguments(const Gradients& grad_outputs) {
  warn(
      "Full backward hook is firing when gradients are computed with respect to module outputs "
      "since no inputs require gradients.");
  const Gradients grad_inputs(arguments_.count);
  for (const auto& [id, hook] : hooks_) {
    const auto replaced = (*hook)(module(), grad_inputs, grad_outputs);
    HEARTH_CHECK(!replaced || std::none_of(replaced->begin(), replaced->end(),
                                           [](const Tensor& grad) { return grad.defined(); }),
                 "Backward hook for Modules where no input requires gradient should always return "
                 "None or None for all gradients.");
  }
}

/// Runs the hooks on the gradients of the arguments, and returns the gradients that replace them.
BackwardCall::Gradients BackwardCall::on_arguments(const Gradients& gradients) {
  std::optional<Gradients> grad_outputs;
  {
    const std::lock_guard lock(mutex_);
    grad_outputs.swap(grad_outputs_);
  }
  // Gradients may reach the arguments without passing the results, as in a double backward.
  if (!grad_outputs) return gradients;
  Gradients grad_inputs = arguments_.spread(gradients);
  for (const auto& [id, hook] : hooks_) {
    auto replaced = (*hook)(module(), grad_inputs, *grad_outputs);
    if (!replaced) continue;
    check_count("Backward", "grad_input", replaced->size(), grad_inputs.size());
    grad_inputs = std::move(*replaced);
  }
  Gradients replaced = arguments_.gather(grad_inputs);
  check_replaced(gradients, replaced);
  return replaced;
}

}  // namespace hearth::nn::detail
