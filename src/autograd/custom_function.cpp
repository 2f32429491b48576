#include "hearth/custom_function.h"

#include <algorithm>
#include <typeinfo>

#include "autograd/anomaly.h"
#include "autograd/engine.h"
#include "autograd/saved_tensor.h"
#include "autograd/state.h"
#include "autograd/tangents.h"
#include "hearth/libtorch_name.h"

namespace hearth::autograd {

struct AutogradContext::Saved {
  std::vector<SavedTensor> tensors;
};

AutogradContext::AutogradContext() = default;
AutogradContext::~AutogradContext() = default;

void AutogradContext::save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
void AutogradContext::mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_ = outputs;
}

variable_list AutogradContext::get_saved_variables() const {
  const std::lock_guard lock(node_->mutex_);
  if (node_->released_) fail_released(*node_);
  variable_list result;
  if (!saved_) return result;
  for (const SavedTensor& tensor : saved_->tensors) result.push_back(tensor.unpack(node_));
  return result;
}

bool AutogradContext::needs_input_grad(size_t index) const {
  HEARTH_CHECK(index < node_->num_outputs(), "Index out of range");
  return wants_gradient(*node_, index);
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (needs_input_grad(i)) return true;
  return false;
}

namespace {

bool contains(const variable_list& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& t) { return t.is_same(tensor); });
}

void set_origin(const Tensor& output, ViewOrigin origin) {
  if (ViewInfo* view = view_info(impl_of(output))) view->origin = origin;
}

}  // namespace

struct CustomNode::Call {
  std::vector<bool> is_tensor;  // for each argument
  variable_list inputs;         // only during forward
  std::vector<InputMetadata> output_info;
};

CustomNode::CustomNode() : call_(new Call) { context_.node_ = this; }
CustomNode::~CustomNode() = default;
std::string CustomNode::name() const { return libtorch_name(typeid(*this)); }

void CustomNode::release_variables() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  if (context_.saved_) context_.saved_->tensors.clear();
}

void CustomNode::add_other_argument() { call_->is_tensor.push_back(false); }

void CustomNode::add_argument(const Tensor& tensor) {
  call_->is_tensor.push_back(true);
  call_->inputs.push_back(tensor);
}

void CustomNode::add_argument(const std::optional<Tensor>& tensor) {
  call_->is_tensor.push_back(tensor && tensor->defined());
  if (call_->is_tensor.back()) call_->inputs.push_back(*tensor);
}

void CustomNode::add_argument(const TensorList& tensors) {
  for (const Tensor& tensor : tensors) add_argument(tensor);
}

void CustomNode::connect() {
  for (const Tensor& input : call_->inputs)
    HEARTH_CHECK(!modes.computes_tangents() || !input.defined() || !tangent_of(input).defined(),
                 "jvp is not implemented for the c++ API of custom Function yet.Please open a "
                 "feature request on GitHub if you need this.");
  recorded_ = GradMode::is_enabled() &&
              std::any_of(call_->inputs.begin(), call_->inputs.end(),
                          [](const Tensor& input) { return input.requires_grad(); });
  if (!recorded_) return;
  for (const Tensor& input : call_->inputs)
    add_next_edge(input.defined() ? gradient_edge(input) : Edge());
  if (AnomalyMode::is_enabled()) remember_forward(*this, modes.scope);
}

void CustomNode::finish(variable_list& outputs) {
  for (const Tensor& input : context_.dirty_) {
    if (!input.defined()) continue;
    HEARTH_CHECK(
        contains(outputs, input),
        "Some elements marked as dirty during the forward method were not returned as "
        "output. The inputs that are modified inplace must all be outputs of the Function.");
    impl_of(input).bump_version();
  }
  for (Tensor& output : outputs) finish_output(output, outputs.size() == 1);
  const auto num_differentiable = std::count_if(
      outputs.begin(), outputs.end(), [](const Tensor& output) { return output.requires_grad(); });
  for (const Tensor& output : outputs)
    if (num_differentiable > 1 && output.defined())
      set_origin(output, ViewOrigin::kMultipleOutputs);
  if (recorded_) save();
  call_->inputs.clear();
  context_.to_save_.clear();
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
}

void CustomNode::finish_output(Tensor& output, bool only_output) {
  const bool is_input = output.defined() && contains(call_->inputs, output);
  const bool is_dirty = output.defined() && contains(context_.dirty_, output);
  const bool differentiable = recorded_ && output.defined() &&
                              is_differentiable(output.scalar_type()) &&
                              !contains(context_.non_differentiable_, output);
  const uint32_t output_nr = recorded_ ? add_input_metadata(differentiable ? output : Tensor()) : 0;
  InputMetadata& info = call_->output_info.emplace_back();
  if (!output.defined()) return;
  info = InputMetadata(output);
  if (!differentiable) {
    cut_history(output, is_input, is_dirty);
  } else if (is_dirty) {
    if (!is_input)
      warn(
          "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, "
          "there is no need to "
          "pass it to mark_dirty().");
    rebase_input(output, output_nr, only_output);
  } else {
    // An input returned unchanged needs a history of its own.
    const AutoGradMode off(false);
    if (is_input) output = output.alias();
    set_history(output, NodePtr::share(this), output_nr);
  }
  if (!is_dirty) set_origin(output, ViewOrigin::kCustomFunction);
}

void CustomNode::cut_history(Tensor& output, bool is_input, bool is_dirty) const {
  if (!output.requires_grad()) {
    const AutoGradMode off(false);
    if (is_input && !is_dirty) output = output.alias();
  } else if (is_input) {
    output = output.detach();
  } else if (!output.is_view()) {
    output.detach_();
  }
}

void CustomNode::rebase_input(const Tensor& input, uint32_t output_nr, bool only_output) {
  HEARTH_CHECK(!(input.is_leaf() && input.requires_grad()),
               "a leaf Variable that requires grad has been used in an in-place operation.");
  HEARTH_CHECK(only_output || !input.is_view(),
               "If your Function modifies inplace an input that is a view of another Tensor, your "
               "Function cannot "
               "return more than one Tensor. This is not supported by the current autograd engine. "
               "You should either "
               "make sure the input is not a view (using .clone() for example) or make your "
               "Function only return one "
               "Tensor (potentially splitting it into two Functions: one doing the inplace that "
               "returns a single "
               "Tensor and a second one that does the other operations).");
  TensorState& state = state_of(impl_of(input));
  state.grad.reset();
  {
    const std::lock_guard lock(state.mutex);
    state.hooks.reset();
  }
  if (input.is_view())
    rewrite_history(input, NodePtr::share(this));
  else
    set_history(input, NodePtr::share(this), output_nr);
}

void CustomNode::save() {
  modes.saved_by = nullptr;
  context_.saved_ = hearth::detail::OwnedPtr(new AutogradContext::Saved);
  for (const Tensor& tensor : context_.to_save_) {
    const TensorState* state = tensor.defined() ? state_if_any(impl_of(tensor)) : nullptr;
    const bool own_output = state && state->grad_fn.get() == this;
    context_.saved_->tensors.emplace_back(tensor, own_output, own_output ? state->output_nr : 0);
  }
}

variable_list CustomNode::apply(variable_list&& grads) {
  for (size_t i = 0; i < grads.size(); ++i)
    if (!grads[i].defined() && context_.materialize_grads_)
      grads[i] = call_->output_info[i].zeros_like();
  return checked(call_backward(&context_, std::move(grads)));
}

/// Checks the gradients of all arguments; returns those of the tensor arguments.
variable_list CustomNode::checked(variable_list results) const {
  // Additional gradients are allowed if they are undefined.
  const size_t expected = call_->is_tensor.size(), got = results.size();
  while (results.size() > expected && !results.back().defined()) results.pop_back();
  HEARTH_CHECK(results.size() == expected, "function ", name(),
               " returned an incorrect number of gradients (expected ", expected, ", got ", got,
               ")");
  variable_list gradients;
  for (size_t i = 0; i < expected; ++i) {
    if (call_->is_tensor[i])
      gradients.push_back(std::move(results[i]));
    else
      HEARTH_CHECK(!results[i].defined(), "function ", name(),
                   " returned a gradient different that is defined at position ", i + 1,
                   ", but the corresponding forward input was not a Variable");
  }
  return gradients;
}

}  // namespace hearth::autograd
