#include "ops/history.h"

#include "autograd/anomaly.h"
#include "autograd/op_node.h"
#include "autograd/state.h"
#include "hearth/autograd.h"
#include "ops/autocast.h"

namespace hearth {

namespace {

using autograd::OpNode;

/// Bit i: input i wants a gradient.
SlotSet wanted_gradients(const OpCall& c) {
  if (!modes.grad_enabled) return 0;
  SlotSet needs = 0;
  for (int i = 0; i < c.inputs.count; ++i) {
    if (!c.inputs[i].defined()) continue;
    const TensorImpl& impl = impl_of(c.inputs[i]);
    // Lists may have more inputs than bits; one bit then stands for all.
    if (autograd::requires_grad(impl) && is_differentiable(impl.dtype))
      needs |= i < 32 ? 1u << i : 1u << 31;
  }
  return needs & c.op.differentiable;
}

bool any_output_differentiable(const OpCall& c) {
  for (int i = 0; i < c.op.info->outputs; ++i)
    if (c.outputs[i].defined() && !(c.op.info->non_differentiable >> i & 1) &&
        is_differentiable(c.outputs[i].scalar_type()))
      return true;
  return false;
}

/// Whether the op's outputs can have a gradient at all, known before they exist.
bool may_record(const OpCall& c) {
  return c.op.info->promote != Promote::kToBool &&
         c.op.info->non_differentiable != (1 << c.op.info->outputs) - 1;
}

void check_binding(const OpCall& c, bool records) {
  if (c.binding == Binding::kInplace) {
    autograd::check_inplace(c.outputs[0], records);
  } else if (c.binding == Binding::kOut && modes.grad_enabled) {
    const bool out_requires =
        c.outputs[0].defined() && autograd::requires_grad(impl_of(c.outputs[0]));
    HEARTH_CHECK(!records && !out_requires, c.op.info->name,
                 "(): functions with out=... arguments don't support automatic differentiation, "
                 "but one of the "
                 "arguments requires grad.");
  }
  for (int i = 0; c.op.info->mutates >> i; ++i)
    if (c.op.info->mutates >> i & 1u && c.inputs[i].defined())
      autograd::check_inplace(c.inputs[i], false);
}

/// Under inference mode new tensors are inference tensors; elsewhere those may not be written to or
/// saved.
void mark_inference(const OpCall& c) {
  if (!(modes.flags & kInferenceMode) || c.binding != Binding::kNew ||
      c.op.info->effect == Effect::kView)
    return;
  for (int i = 0; i < c.op.info->outputs; ++i)
    if (c.outputs[i].defined()) impl_of(c.outputs[i]).flags |= kInference;
}

/// The input as it is before an in-place op overwrites it, if backward will read it.
Tensor keep_overwritten(const OpCall& c, SlotSet saves) {
  for (int i = 0; c.binding == Binding::kInplace && i < c.inputs.count; ++i) {
    if (!(saves & in_slot(i)) || !c.inputs[i].is_same(c.outputs[0])) continue;
    const AutoGradMode off(false);
    return c.inputs[i].clone();
  }
  return {};
}

autograd::NodePtr make_node(const OpCall& c) {
  auto* node = new OpNode(c.op, c.args, c.inputs.count);
  for (int i = 0; i < c.inputs.count; ++i) {
    const bool wanted = c.op.differentiable >> (i < 32 ? i : 31) & 1u && c.inputs[i].defined() &&
                        is_differentiable(c.inputs[i].scalar_type());
    node->add_next_edge(wanted ? autograd::gradient_edge(c.inputs[i]) : autograd::Edge());
  }
  return autograd::NodePtr::adopt(node);
}

void save(OpNode& node, const OpCall& c, SlotSet saves, const Tensor& overwritten) {
  for (int i = 0; i < c.inputs.count; ++i) {
    if (!(saves & in_slot(i)) || !c.inputs[i].defined()) continue;
    const bool is_output = c.binding == Binding::kInplace && c.inputs[i].is_same(c.outputs[0]);
    node.save(in_slot(i), is_output ? overwritten : c.inputs[i], false);
  }
  for (int i = 0; i < c.op.info->outputs; ++i)
    if ((saves & out_slot(i)) && c.outputs[i].defined())
      node.save(out_slot(i), c.outputs[i], true, uint32_t(i));
}

void set_outputs(const OpCall& c, const autograd::NodePtr& node) {
  for (int i = 0; i < c.op.info->outputs; ++i) {
    const Tensor& output = c.outputs[i];
    const bool differentiable = output.defined() && !(c.op.info->non_differentiable >> i & 1) &&
                                is_differentiable(output.scalar_type());
    const uint32_t number =
        output.defined() ? node->add_input_metadata(output) : node->add_input_metadata({});
    if (!differentiable) continue;
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

void link_view(const Tensor& view, const OpCall& c) {
  const Tensor& base = c.inputs[0];
  if (modes.flags & kInferenceMode && base.is_inference()) return;
  autograd::record_view(view, base, c.op, c.args,
                        modes.flags & kInferenceMode ? autograd::ViewOrigin::kInference
                        : !modes.grad_enabled        ? autograd::ViewOrigin::kNoGrad
                                                     : autograd::ViewOrigin::kDefault);
}

void compute_with_history(OpCall& c) {
  if (modes.flags & kAutocast && run_autocast(c)) return;
  const SlotSet needs = may_record(c) ? wanted_gradients(c) : 0;
  check_binding(c, needs != 0);
  if (needs != 0) check_has_derivative(c);
  const SlotSet saves = needs ? c.op.saves(c.op, c.args, needs) : 0;
  const Tensor overwritten = keep_overwritten(c, saves);
  // The edges are taken before the op runs: in place, the input's history is about to change.
  autograd::NodePtr node = needs ? make_node(c) : autograd::NodePtr();
  compute(c);
  mark_inference(c);
  if (!node || !any_output_differentiable(c)) return;
  if (modes.flags & kAnomalyMode) autograd::remember_forward(*node, modes.scope);
  save(static_cast<OpNode&>(*node), c, saves, overwritten);
  set_outputs(c, node);
}

}  // namespace hearth
