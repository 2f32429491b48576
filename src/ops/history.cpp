#include "ops/history.h"

#include <algorithm>

#include "autograd/anomaly.h"
#include "autograd/op_node.h"
#include "autograd/state.h"
#include "core/observer.h"
#include "core/op_reuse.h"
#include "hearth/autograd.h"
#include "ops/autocast.h"
#include "ops/forward_mode.h"
#include "ops/promote.h"

namespace hearth {

namespace {

using autograd::OpNode;

/// The inputs that need a gradient.
SlotSet wanted_gradients(const OpCall& call) {
  if (!modes.records()) return 0;
  SlotSet needs = 0;
  for (int i = 0; i < call.inputs.count; ++i) {
    if (!call.inputs[i].defined()) continue;
    const TensorImpl& impl = impl_of(call.inputs[i]);
    if (autograd::requires_grad(impl) && is_differentiable(impl.dtype)) needs |= in_slot(i);
  }
  return needs & call.op.differentiable;
}

bool any_output_differentiable(const OpCall& call) {
  for (size_t i = 0; i < call.outputs.size(); ++i)
    if (is_differentiable_output(call, i)) return true;
  return false;
}

/// Whether an output of the op can require grad; known before the outputs exist.
bool may_record(const OpCall& call) {
  const OpInfo& info = *call.op.info;
  if (info.promote == Promote::kToBool) return call.binding == Binding::kInplace;
  for (size_t i = 0; i < info.outputs; ++i)
    if (output_differentiable(info, i)) return true;
  return info.outputs == 0;
}

/// Whether an input is not an inference tensor. Inference tensors have no history, even if they
/// require grad.
bool any_may_enter_graphs(const OpCall& call) {
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined() && !impl_of(call.inputs[i]).has(kInference)) return true;
  return false;
}

/// Throws if the tensor is complex.
void refuse_complex(const OpCall& call, const Tensor& tensor, const char* role) {
  HEARTH_CHECK_AS(NotImplementedError, !tensor.defined() || !is_complex(impl_of(tensor).dtype),
                  call.op.info->name, ": gradients of complex tensors are not implemented (", role,
                  " is ", name_of(tensor.scalar_type()),
                  ", and one of the inputs requires grad); use its real and imaginary parts, or "
                  "detach()");
}

/// The formulas of most ops do not conjugate, so complex inputs and targets are refused here, and
/// results after the op has run.
void check_complex_inputs(const OpCall& call) {
  if (complex_grad_of(call.op) != ComplexGrad::kRefused) return;
  for (int i = 0; i < call.inputs.count; ++i) refuse_complex(call, call.inputs[i], "an input");
  for (const Tensor& target : call.outputs) refuse_complex(call, target, "the target");
}

/// Calls f with every input that the call writes to besides its outputs.
template <class F>
void for_each_mutated(const OpCall& call, const F& f) {
  if (!call.op.mutates) return;
  for (int i = 0; i < call.inputs.count; ++i)
    if (writes_to_input(call.op, call.args, call.inputs, i)) f(call.inputs[i]);
}

void check_binding(const OpCall& call, bool records) {
  if (call.binding == Binding::kInplace) autograd::check_inplace(call.outputs[0], records);
  if (call.binding == Binding::kOut && modes.records()) {
    bool needs_gradient = records;
    for (const Tensor& out : call.outputs)
      needs_gradient |= out.defined() && autograd::requires_grad(impl_of(out));
    HEARTH_CHECK(!needs_gradient, call.op.info->name,
                 "(): functions with out=... arguments don't support automatic differentiation, "
                 "but one of the "
                 "arguments requires grad.");
  }
  for (const Tensor& out : call.outputs) autograd::check_not_inference_tensor(out);
  for_each_mutated(call, [](const Tensor& input) { autograd::check_inplace(input, false); });
}

/// Throws if the outputs, taken from another call, are not like the results of this one.
void check_reused(const OpCall& call) {
  InferContext inferred(call.inputs);
  if (call.op.functor >= 0) inferred.compute_dtype = compute_type(*call.op.info, call.inputs);
  call.op.infer(call.op, call.args, inferred);
  for (size_t i = 0; i < std::min(call.outputs.size(), inferred.outputs()); ++i) {
    const InferContext::Output& wanted = inferred.out(int(i));
    const Tensor& kept = call.outputs[i];
    const bool agrees = wanted.defined == kept.defined() &&
                        (!wanted.defined || (kept.scalar_type() == wanted.dtype &&
                                             (wanted.late || kept.sizes().equals(wanted.sizes))));
    HEARTH_CHECK(agrees, "The result of ", call.op.info->name,
                 " that was kept in forward does not fit the call in the second computation: ",
                 kept.toString(), " ", kept.defined() ? kept.sizes() : IntArrayRef(),
                 " instead of ", name_of(wanted.dtype), " ", IntArrayRef(wanted.sizes),
                 ". The checkpointed function must call the same ops in the same order.");
  }
}

/// Computes the outputs, or takes them from an earlier call (core/op_reuse.h).
void compute_or_reuse(OpCall& call) {
  OpReuse& reuse = *modes.op_reuse;
  if (reuse.find(call.op, call.outputs)) return check_reused(call);
  compute(call);
  reuse.computed(call.op, call.outputs);
}

/// Computes the outputs or reuses kept ones, and increments the versions of mutated inputs;
/// compute() increments those of given outputs.
void compute_and_bump_versions(OpCall& call) {
  const bool returns_new =
      call.binding == Binding::kNew && !call.op.mutates && call.op.info->effect != Effect::kView;
  if (modes.flags & kReusesOps && returns_new) [[unlikely]]
    return compute_or_reuse(call);
  compute(call);
  for_each_mutated(call, [](const Tensor& input) { impl_of(input).bump_version(); });
}

/// Makes new tensors inference tensors under inference mode; outside it, they may not be written to
/// or saved.
void mark_inference(const OpCall& call) {
  if (!(modes.flags & kInferenceMode) || call.binding != Binding::kNew ||
      call.op.info->effect == Effect::kView)
    return;
  for (const Tensor& output : call.outputs)
    if (output.defined()) impl_of(output).flags |= kInference;
}

using NodePtr = IntrusivePtr<OpNode>;

/// The inputs that have no edge in PyTorch's nodes: of pointwise ops those without a formula for
/// their gradient, and the number in x * 2; of other ops indices and masks. Input 0 of an in-place
/// op always has an edge.
SlotSet edgeless_inputs(const OpCall& call) {
  const bool is_pointwise = call.op.functor >= 0;
  SlotSet set = 0;
  for (int i = call.binding == Binding::kInplace ? 1 : 0;
       i < std::min(call.inputs.count, kLastInputSlot); ++i) {
    if (!call.inputs[i].defined()) continue;
    const TensorImpl& impl = impl_of(call.inputs[i]);
    const bool has_no_edge =
        is_pointwise ? !(call.op.differentiable & in_slot(i)) ||
                           (i == 1 && call.inputs.count == 2 && impl.has(kWrappedNumber))
                     : !is_differentiable(impl.dtype);
    if (has_no_edge) set |= in_slot(i);
  }
  return set;
}

NodePtr make_node(const OpCall& call, SlotSet saves) {
  const SlotSet edgeless = edgeless_inputs(call);
  auto node = NodePtr::adopt(new OpNode(call.op, call.args, call.inputs.count, saves, edgeless));
  for (int i = 0; i < call.inputs.count; ++i) {
    if (i < kLastInputSlot && (edgeless & in_slot(i))) continue;
    const bool has_edge = (call.op.differentiable & in_slot(i)) && call.inputs[i].defined() &&
                          is_differentiable(call.inputs[i].scalar_type());
    node->add_next_edge(has_edge ? autograd::gradient_edge(call.inputs[i]) : autograd::Edge());
  }
  return node;
}

/// Saves the inputs that backward reads. Runs before the op, which may overwrite them in place and
/// increment their versions.
void save_inputs(OpNode& node, const OpCall& call, SlotSet saves) {
  Tensor before;  // the value that an in-place op overwrites
  for (int i = 0; i < call.inputs.count; ++i) {
    const Tensor& input = call.inputs[i];
    if (!input.defined()) continue;
    if (call.op.info->shapes & in_slot(i)) node.keep_shape(i, input);
    if (!(saves & in_slot(i))) continue;
    const bool is_overwritten = call.binding == Binding::kInplace && input.is_same(call.outputs[0]);
    if (is_overwritten && !before.defined()) before = input.clone();
    node.save_input(i, is_overwritten ? before : input);
  }
}

void save_outputs(OpNode& node, const OpCall& call, SlotSet saves) {
  for (size_t i = 0; i < call.outputs.size(); ++i)
    if ((saves & out_slot(int(i))) && call.outputs[i].defined())
      node.save_output(int(i), call.outputs[i]);
}

void set_outputs(const OpCall& call, const NodePtr& node) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Tensor& output = call.outputs[i];
    const uint32_t number = node->add_input_metadata(output);
    if (!is_differentiable_output(call, i)) continue;
    if (call.binding == Binding::kInplace && i == 0)
      autograd::rewrite_history(output, node);
    else
      autograd::set_history(output, node, number);
  }
}

void check_has_derivative(const OpCall& call) {
  HEARTH_CHECK_AS(NotImplementedError, call.op.grad, "derivative for ", call.op.info->name,
                  " is not implemented");
}

}  // namespace

bool is_differentiable_output(const OpCall& call, size_t i) {
  return call.outputs[i].defined() && output_differentiable(*call.op.info, i) &&
         is_differentiable(call.outputs[i].scalar_type());
}

void link_view(const Tensor& view, const OpCall& call, int output_nr) {
  using autograd::ViewOrigin;
  const Tensor& base = call.inputs[0];
  if (base.is_inference()) return;  // its views are inference tensors without history
  if (!output_differentiable(*call.op.info, size_t(output_nr)) ||
      modes.excluded_keys.has(DispatchKey::ADInplaceOrView))
    return impl_of(view).share_version(impl_of(base));
  const ViewOrigin origin = modes.flags & kInferenceMode ? ViewOrigin::kInference
                            : !modes.records()           ? ViewOrigin::kNoGrad
                            : call.op.info->outputs != 1 ? ViewOrigin::kMultipleOutputs
                                                         : ViewOrigin::kDefault;
  autograd::record_view(view, base, origin);
}

void compute_with_history(OpCall& call) {
  if (modes.flags & kAutocast && run_autocast(call)) return;
  std::optional<Observation> observation;
  if (modes.flags & kObserved)
    observation.emplace(ObservedCall{call.op, call.args, call.inputs, call.outputs});
  const SlotSet needs = may_record(call) && any_may_enter_graphs(call) ? wanted_gradients(call) : 0;
  // An in-place op without a derivative would keep the old history.
  if (needs == 0 && call.binding == Binding::kInplace && call.op.functor >= 0 && modes.records() &&
      autograd::requires_grad(impl_of(call.outputs[0])))
    check_has_derivative(call);
  check_binding(call, needs != 0);
  ForwardMode forward(call);
  if (needs == 0) {
    compute_and_bump_versions(call);
    mark_inference(call);
    return forward.finish(call);
  }
  check_complex_inputs(call);
  // Without a derivative, the node throws in backward.
  const SlotSet saves = call.op.grad ? call.op.saves(call.op, call.args, needs) : 0;
  modes.saved_by = call.op.info->name;
  const NodePtr node = make_node(call, saves);
  save_inputs(*node, call, saves);
  {
    const bool is_untagged = modes.memory_tag == MemoryTag::Other;
    const MemoryTagGuard tag(is_untagged ? MemoryTag::Activation : modes.memory_tag);
    compute_and_bump_versions(call);
  }
  if (!any_output_differentiable(call)) return;
  if (complex_grad_of(call.op) == ComplexGrad::kRefused)
    for (const Tensor& output : call.outputs) refuse_complex(call, output, "the result");
  if (modes.flags & kAnomalyMode)
    autograd::remember_forward(*node, modes.scope, as_text(call.op.arguments(call.args)));
  set_outputs(call, node);
  forward.finish(call);  // before the outputs are saved, with their tangents
  save_outputs(*node, call, saves);
}

}  // namespace hearth
