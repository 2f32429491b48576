#include "ops/history.h"

#include <algorithm>

#include "autograd/anomaly.h"
#include "autograd/op_node.h"
#include "autograd/state.h"
#include "core/observer.h"
#include "hearth/autograd.h"
#include "ops/autocast.h"

namespace hearth {

namespace {

using autograd::OpNode;

/// The inputs that want a gradient.
SlotSet wanted_gradients(const OpCall& c) {
  if (!modes.grad_enabled) return 0;
  SlotSet needs = 0;
  for (int i = 0; i < c.inputs.count; ++i) {
    if (!c.inputs[i].defined()) continue;
    const TensorImpl& impl = impl_of(c.inputs[i]);
    if (autograd::requires_grad(impl) && is_differentiable(impl.dtype)) needs |= in_slot(i);
  }
  return needs & c.op.differentiable;
}

bool is_differentiable_output(const OpCall& c, size_t i) {
  return c.outputs[i].defined() && output_differentiable(*c.op.info, i) &&
         is_differentiable(c.outputs[i].scalar_type());
}

bool any_output_differentiable(const OpCall& c) {
  for (size_t i = 0; i < c.outputs.size(); ++i)
    if (is_differentiable_output(c, i)) return true;
  return false;
}

/// Whether the op's outputs can have a gradient at all, known before they exist.
bool may_record(const OpCall& c) {
  const OpInfo& info = *c.op.info;
  if (info.promote == Promote::kToBool) return c.binding == Binding::kInplace;
  for (size_t i = 0; i < info.outputs; ++i)
    if (output_differentiable(info, i)) return true;
  return info.outputs == 0;
}

/// Inference tensors among themselves have no history, whatever they were told to require.
bool any_may_enter_graphs(const OpCall& c) {
  for (int i = 0; i < c.inputs.count; ++i)
    if (c.inputs[i].defined() && !impl_of(c.inputs[i]).has(kInference)) return true;
  return false;
}

/// Gradients of complex numbers are refused: the formulas do not conjugate.
void refuse_complex(const OpCall& c, const Tensor& tensor, const char* role) {
  HEARTH_CHECK_AS(NotImplementedError, !tensor.defined() || !is_complex(impl_of(tensor).dtype),
                  c.op.info->name, ": gradients of complex tensors are not implemented (", role,
                  " is ", name_of(tensor.scalar_type()),
                  ", and one of the inputs requires grad); use its real and imaginary parts, or "
                  "detach()");
}

void refuse_complex_inputs(const OpCall& c) {
  for (int i = 0; i < c.inputs.count; ++i) refuse_complex(c, c.inputs[i], "an input");
  for (const Tensor& target : c.outputs) refuse_complex(c, target, "the target");
}

/// Calls f with every input that the call writes to besides its outputs.
template <class F>
void for_each_mutated(const OpCall& c, const F& f) {
  if (!c.op.mutates) return;
  for (int i = 0; i < c.inputs.count; ++i)
    if (writes_to_input(c.op, c.args, c.inputs, i)) f(c.inputs[i]);
}

void check_binding(const OpCall& c, bool records) {
  if (c.binding == Binding::kInplace) autograd::check_inplace(c.outputs[0], records);
  if (c.binding == Binding::kOut && modes.grad_enabled) {
    bool differentiates = records;
    for (const Tensor& out : c.outputs)
      differentiates |= out.defined() && autograd::requires_grad(impl_of(out));
    HEARTH_CHECK(!differentiates, c.op.info->name,
                 "(): functions with out=... arguments don't support automatic differentiation, "
                 "but one of the "
                 "arguments requires grad.");
  }
  for (const Tensor& out : c.outputs) autograd::check_no_inference(out);
  for_each_mutated(c, [](const Tensor& input) { autograd::check_inplace(input, false); });
}

void compute_and_count(OpCall& c) {
  compute(c);
  for_each_mutated(c, [](const Tensor& input) { impl_of(input).bump_version(); });
}

/// Under inference mode new tensors are inference tensors; elsewhere those may not be written to or
/// saved.
void mark_inference(const OpCall& c) {
  if (!(modes.flags & kInferenceMode) || c.binding != Binding::kNew ||
      c.op.info->effect == Effect::kView)
    return;
  for (const Tensor& output : c.outputs)
    if (output.defined()) impl_of(output).flags |= kInference;
}

using NodePtr = IntrusivePtr<OpNode>;

/// The inputs that no call of the op has a gradient for, as PyTorch's nodes do not count them:
/// those without a formula, indices, masks, and the number in x * 2.
SlotSet edgeless_inputs(const OpCall& c) {
  const bool pointwise = c.op.functor >= 0;
  SlotSet set = 0;
  for (int i = c.binding == Binding::kInplace ? 1 : 0; i < std::min(c.inputs.count, 47); ++i) {
    if (!c.inputs[i].defined()) continue;
    const TensorImpl& impl = impl_of(c.inputs[i]);
    const bool none = pointwise ? !(c.op.differentiable & in_slot(i)) ||
                                      (i == 1 && c.inputs.count == 2 && impl.has(kWrappedNumber))
                                : !is_differentiable(impl.dtype);
    if (none) set |= in_slot(i);
  }
  return set;
}

NodePtr make_node(const OpCall& c, SlotSet saves) {
  const SlotSet edgeless = edgeless_inputs(c);
  auto node = NodePtr::adopt(new OpNode(c.op, c.args, c.inputs.count, saves, edgeless));
  for (int i = 0; i < c.inputs.count; ++i) {
    if (i < 47 && (edgeless & in_slot(i))) continue;
    const bool wanted = (c.op.differentiable & in_slot(i)) && c.inputs[i].defined() &&
                        is_differentiable(c.inputs[i].scalar_type());
    node->add_next_edge(wanted ? autograd::gradient_edge(c.inputs[i]) : autograd::Edge());
  }
  return node;
}

/// Saves what backward reads of the inputs: before the op runs, since in place it overwrites them
/// and counts their versions on.
void save_inputs(OpNode& node, const OpCall& c, SlotSet saves) {
  Tensor before;  // the value that an in-place op overwrites
  for (int i = 0; i < c.inputs.count; ++i) {
    const Tensor& input = c.inputs[i];
    if (!input.defined()) continue;
    if (c.op.info->shapes & in_slot(i)) node.keep_shape(i, input);
    if (!(saves & in_slot(i))) continue;
    const bool overwritten = c.binding == Binding::kInplace && input.is_same(c.outputs[0]);
    if (overwritten && !before.defined()) before = input.clone();
    node.save_input(i, overwritten ? before : input);
  }
}

void save_outputs(OpNode& node, const OpCall& c, SlotSet saves) {
  for (size_t i = 0; i < c.outputs.size(); ++i)
    if ((saves & out_slot(int(i))) && c.outputs[i].defined())
      node.save_output(int(i), c.outputs[i]);
}

void set_outputs(const OpCall& c, const NodePtr& node) {
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const Tensor& output = c.outputs[i];
    const uint32_t number = node->add_input_metadata(output);
    if (!is_differentiable_output(c, i)) continue;
    if (c.binding == Binding::kInplace && i == 0)
      autograd::rebase_history(output, node);
    else
      autograd::set_history(output, node, number);
  }
}

void check_has_derivative(const OpCall& c) {
  HEARTH_CHECK_AS(NotImplementedError, c.op.grad, "derivative for ", c.op.info->name,
                  " is not implemented");
}

}  // namespace

void link_view(const Tensor& view, const OpCall& c, int output_nr) {
  using autograd::ViewOrigin;
  const Tensor& base = c.inputs[0];
  if (base.is_inference()) return;  // its views are inference tensors without history
  if (!output_differentiable(*c.op.info, size_t(output_nr)))
    return impl_of(view).share_version(impl_of(base));
  const ViewOrigin origin = modes.flags & kInferenceMode ? ViewOrigin::kInference
                            : !modes.grad_enabled        ? ViewOrigin::kNoGrad
                            : c.op.info->outputs != 1    ? ViewOrigin::kMultipleOutputs
                                                         : ViewOrigin::kDefault;
  autograd::record_view(view, base, origin);
}

void compute_with_history(OpCall& c) {
  if (modes.flags & kAutocast && run_autocast(c)) return;
  std::optional<Observation> observation;
  if (modes.flags & kObserved) observation.emplace(ObservedCall{c.op, c.args, c.inputs, c.outputs});
  const SlotSet needs = may_record(c) && any_may_enter_graphs(c) ? wanted_gradients(c) : 0;
  // In place the old history would stay.
  if (c.binding == Binding::kInplace && c.op.functor >= 0 && modes.grad_enabled &&
      autograd::requires_grad(impl_of(c.outputs[0])))
    check_has_derivative(c);
  check_binding(c, needs != 0);
  if (needs == 0) {
    compute_and_count(c);
    return mark_inference(c);
  }
  check_has_derivative(c);
  refuse_complex_inputs(c);
  const SlotSet saves = c.op.saves(c.op, c.args, needs);
  const NodePtr node = make_node(c, saves);
  save_inputs(*node, c, saves);
  compute_and_count(c);
  if (!any_output_differentiable(c)) return;
  for (const Tensor& output : c.outputs) refuse_complex(c, output, "the result");
  if (modes.flags & kAnomalyMode)
    autograd::remember_forward(*node, modes.scope, as_text(c.op.arguments(c.args)));
  save_outputs(*node, c, saves);
  set_outputs(c, node);
}

}  // namespace hearth
