#include "ops/forward_mode.h"

#include <algorithm>

#include "autograd/op_node.h"
#include "autograd/tangents.h"
#include "functors/activation.h"
#include "functors/arithmetic.h"
#include "functors/bounds.h"
#include "functors/compare.h"
#include "functors/division.h"
#include "functors/logic.h"
#include "functors/loss.h"
#include "functors/math.h"
#include "functors/trig.h"
#include "hearth/autograd.h"
#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"
#include "ops/history.h"
#include "ops/tensor_value.h"

namespace hearth {

namespace {

/// The context of an op's derivative for chosen inputs, whose saved tensors are the call's own.
class CallGrad final : public GradContext {
 public:
  /// `before`: the value of an overwritten input. With `constants`, the tensors that the derivative
  /// reads have no history. `conjugates`: as GradContext::in describes.
  CallGrad(const OpCall& call, const Tensor& before, bool constants, bool conjugates)
      : results(size_t(call.inputs.count)),
        wanted(size_t(call.inputs.count)),
        call_(call),
        before_(before),
        constants_(constants),
        conjugates_(conjugates) {}

  std::vector<Tensor> grads;    // of the outputs
  std::vector<Tensor> results;  // for the inputs
  std::vector<bool> wanted;     // the inputs

  const Tensor& grad(int i) const override {
    static const Tensor none;
    return size_t(i) < grads.size() ? grads[size_t(i)] : none;
  }
  Tensor in(int i) const override {
    const bool is_overwritten = before_.defined() && call_.inputs[i].is_same(call_.outputs[0]);
    return as_saved(is_overwritten ? before_ : call_.inputs[i]);
  }
  Tensor out(int i) const override { return as_saved(call_.outputs[size_t(i)]); }
  int inputs() const override { return call_.inputs.count; }
  bool needs(int i) const override { return wanted[size_t(i)]; }
  IntArrayRef in_sizes(int i) const override { return in_shape(i).sizes(); }
  ScalarType in_dtype(int i) const override { return in_shape(i).dtype; }
  Device in_device(int i) const override { return in_shape(i).device; }
  const TensorImpl& in_shape(int i) const override { return impl_of(call_.inputs[i]); }
  void set(int i, Tensor gradient) override { results[size_t(i)] = std::move(gradient); }

 private:
  Tensor as_saved(const Tensor& tensor) const {
    if (!tensor.defined()) return {};
    const Tensor value = constants_ ? tensor.detach() : tensor._fw_primal(0);
    return conjugates_ ? autograd::conjugated_for(call_.op, value) : value;
  }
  const OpCall& call_;
  const Tensor& before_;
  bool constants_, conjugates_;
};

bool any_complex(const OpCall& call) {
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined() && call.inputs[i].is_complex()) return true;
  return call.outputs[0].is_complex();
}

/// The text of the error for an op without tangents.
std::string refusal_of(const OpCall& call) {
  return detail::str("Trying to use forward AD with ", call.op.info->name,
                     " that does not support it because it has not been implemented yet.");
}

/// Whether the result or a derivative of the call may require grad.
bool is_recorded(const OpCall& call, const std::vector<Tensor>& tangents) {
  if (!modes.records()) return false;
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].requires_grad() || tangents[size_t(i)].requires_grad()) return true;
  return false;
}

/// Replaces the tangent by the one of F, if the op has this functor and F has its own `tangent`.
template <class F>
void use_tangent_of(const OpCall& call, const Tensor& before, const Tensor& of_input,
                    Tensor& tangent) {
  if constexpr (requires(TensorValue v) { F::tangent(v, v, v); })
    if (call.op.functor == fn::number_of<F>) {
      const Tensor input = CallGrad(call, before, true, false).in(0);
      tangent = F::tangent(TensorValue(input), TensorValue(of_input), TensorValue(tangent)).tensor;
    }
}
template <class... F>
void use_own_tangent(List<F...>, const OpCall& call, const Tensor& before, const Tensor& of_input,
                     Tensor& tangent) {
  (use_tangent_of<F>(call, before, of_input, tangent), ...);
}

}  // namespace

struct ForwardMode::Tangents {
  std::vector<Tensor> in;  // of the inputs; empty if only the target has one
  Tensor before;           // the value that an in-place op overwrites, if the derivative reads it

  /// The tangents of the outputs; an undefined one stands for zeros.
  std::vector<Tensor> of_outputs(const OpCall& call) const;
  std::vector<Tensor> of_linear(const OpCall& call) const;
  Tensor of_elements(const OpCall& call) const;
  std::vector<Tensor> by_adjoint(const OpCall& call) const;
  Tensor apart_from_inputs(const Tensor& tangent) const;
};

void ForwardMode::destroy(Tangents* tangents) noexcept { delete tangents; }

void ForwardMode::find_tangents(const OpCall& call) {
  if (!modes.computes_tangents()) return;
  // Ops without any derivative are refused below, not passed over.
  const SlotSet differentiable = call.op.differentiable ? call.op.differentiable : ~SlotSet(0);
  SlotSet found = 0;
  std::vector<Tensor> tangents(static_cast<size_t>(call.inputs.count));
  for (int i = 0; i < call.inputs.count; ++i) {
    const Tensor& input = call.inputs[i];
    if (!input.defined() || !is_differentiable(input.scalar_type()) ||
        !(differentiable & in_slot(i)))
      continue;
    tangents[size_t(i)] = autograd::tangent_of(input);
    if (tangents[size_t(i)].defined()) found |= in_slot(i);
  }
  bool target_has_tangent = false;
  for (const Tensor& target : call.outputs)
    target_has_tangent |= target.defined() && autograd::tangent_of(target).defined();
  if (!found && !target_has_tangent) return;
  HEARTH_CHECK_AS(NotImplementedError, call.binding != Binding::kOut,
                  "Trying to use forward AD with ", call.op.info->name,
                  "_out that does not support it because it is an out= function");
  // Optimizers' steps and the like write to their inputs and return nothing.
  HEARTH_CHECK_AS(NotImplementedError, !call.op.mutates || call.op.info->outputs > 0,
                  refusal_of(call));
  tangents_ = new Tangents;
  if (!found) return;
  tangents_->in = std::move(tangents);
  if (call.binding != Binding::kInplace || !call.op.grad) return;
  const SlotSet saves = call.op.saves(call.op, call.args, found);
  const AutoFwGradMode off(false);
  for (int i = 0; i < call.inputs.count && !tangents_->before.defined(); ++i)
    if ((saves & in_slot(i)) && call.inputs[i].is_same(call.outputs[0]))
      tangents_->before = call.inputs[i].clone();
}

void ForwardMode::compute(const OpCall& call) const {
  const ModesGuard restored;
  modes.forward_grad_enabled = false;
  modes.flags &= ~uint32_t(kAutocast | kReusesOps);
  const bool is_view = call.op.info->effect == Effect::kView;
  const std::vector<Tensor> tangents = tangents_->of_outputs(call);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const bool is_shared = is_view || !tangents[i].defined();
    Tensor tangent = is_shared ? tangents[i] : tangents_->apart_from_inputs(tangents[i]);
    if (call.binding == Binding::kInplace) {
      autograd::update_tangent(call.outputs[i], tangent);
      continue;
    }
    if (!is_differentiable_output(call, i)) continue;
    if (!tangent.defined()) tangent = zeros_like(call.outputs[i].detach());
    if (is_view)
      autograd::set_view_tangent(call.outputs[i], tangent);
    else
      autograd::set_tangent(call.outputs[i], tangent);
  }
}

std::vector<Tensor> ForwardMode::Tangents::of_outputs(const OpCall& call) const {
  std::vector<Tensor> none(call.outputs.size());
  if (in.empty()) return none;  // the op overwrites the target with values without a tangent
  if (call.op.info->effect == Effect::kView || call.op.info->linear) return of_linear(call);
  bool differentiable = false;
  for (size_t i = 0; i < call.outputs.size(); ++i)
    differentiable |= is_differentiable_output(call, i);
  if (!differentiable) return none;
  HEARTH_CHECK_AS(NotImplementedError, call.op.grad, refusal_of(call));
  const bool has_own_grad = complex_grad_of(call.op) == ComplexGrad::kOwn && any_complex(call);
  if (call.op.functor >= 0 && !has_own_grad) return {of_elements(call)};
  return by_adjoint(call);
}

/// The tangent, or a copy if a formula has returned the tangent of an input: in-place ops on the
/// output must not change it.
Tensor ForwardMode::Tangents::apart_from_inputs(const Tensor& tangent) const {
  for (const Tensor& input : in)
    if (input.defined() && tangent.is_alias_of(input)) return tangent.clone();
  return tangent;
}

/// The tangent of the result is the result for the tangent: that of a view is the same view.
std::vector<Tensor> ForwardMode::Tangents::of_linear(const OpCall& call) const {
  std::vector<const Tensor*> inputs(call.inputs.tensors, call.inputs.tensors + call.inputs.count);
  inputs[0] = &in[0];
  OpCall same{call.op, call.args, {inputs.data(), call.inputs.count}};
  run(same);
  return {same.outputs.begin(), same.outputs.end()};
}

/// The Jacobian of a pointwise op is diagonal, so its product with a tangent is that of its
/// transpose: the formula of the gradient, which multiplies by the conjugated derivative.
Tensor ForwardMode::Tangents::of_elements(const OpCall& call) const {
  const Tensor& out = call.outputs[0];
  const bool conjugates = any_complex(call);
  const bool recorded = is_recorded(call, in);
  const AutoGradMode mode(recorded);
  Tensor total;
  for (int i = 0; i < call.inputs.count; ++i) {
    if (!in[size_t(i)].defined()) continue;
    CallGrad context(call, before, !recorded, conjugates);
    context.wanted[size_t(i)] = true;
    const Tensor tangent = in[size_t(i)].to(out.device(), out.scalar_type());
    context.grads = {(conjugates ? conj(tangent) : tangent).expand(out.sizes())};
    call.op.grad(call.op, call.args, context);
    Tensor term = context.results[size_t(i)];
    if (conjugates && term.defined()) term = conj(term);
    if (term.defined()) total = total.defined() ? total.add(term) : term;
  }
  if (in[0].defined()) {
#define HEARTH_OWN_TANGENT(Name) use_own_tangent(fn::Name{}, call, before, in[0], total);
    HEARTH_FUNCTOR_FAMILIES(HEARTH_OWN_TANGENT)
#undef HEARTH_OWN_TANGENT
  }
  return total.defined() ? total.expand(out.sizes()) : total;
}

/// The gradients of the inputs are a linear function of those of the outputs. Its own gradient is
/// the product of the Jacobian and the tangents.
std::vector<Tensor> ForwardMode::Tangents::by_adjoint(const OpCall& call) const {
  const bool recorded = is_recorded(call, in);
  CallGrad context(call, before, !recorded, true);
  autograd::variable_list outputs, gradients, tangents;
  std::vector<Tensor> result(call.outputs.size());
  {
    const AutoGradMode on(true);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      context.grads.emplace_back();
      if (!is_differentiable_output(call, i)) continue;
      context.grads[i] = zeros_like(call.outputs[i].detach()).requires_grad_();
      outputs.push_back(context.grads[i]);
    }
    for (size_t i = 0; i < in.size(); ++i) context.wanted[i] = in[i].defined();
    call.op.grad(call.op, call.args, context);
  }
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor& gradient = context.results[i];
    if (!context.wanted[i] || !gradient.defined() || !gradient.requires_grad()) continue;
    const bool drops_imaginary = in[i].is_complex() && !gradient.is_complex();
    const Tensor tangent = drops_imaginary ? real(in[i]) : in[i];
    gradients.push_back(gradient);
    tangents.push_back(
        tangent.to(gradient.device(), gradient.scalar_type()).expand(gradient.sizes()));
  }
  if (gradients.empty()) return result;
  const auto products = autograd::grad(gradients, outputs, tangents, {}, recorded, true);
  for (size_t i = 0, k = 0; i < call.outputs.size(); ++i)
    if (context.grads[i].defined()) result[i] = products[k++];
  return result;
}

}  // namespace hearth
