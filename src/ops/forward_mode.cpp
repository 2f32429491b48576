#include "ops/forward_mode.h"

#include <algorithm>

#include "autograd/tangents.h"
#include "hearth/autograd.h"
#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"
#include "ops/history.h"

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
        conjugates_(conjugates && complex_grad_of(call.op) == ComplexGrad::kAnalytic) {}

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
    const Tensor value = constants_ ? tensor.detach() : tensor;
    return conjugates_ && value.is_complex() ? value.conj() : value;
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

/// Whether the result or a derivative of the call may require grad.
bool is_recorded(const OpCall& call, const std::vector<Tensor>& tangents) {
  if (!modes.grad_enabled) return false;
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].requires_grad() || tangents[size_t(i)].requires_grad()) return true;
  return false;
}

bool may_have_tangents(const OpCall& call) {
  if (!autograd::computes_tangents()) return false;
  if (modes.flags & kDualLevel) return true;
  const auto has_tangent = [](const Tensor& tensor) {
    return tensor.defined() && impl_of(tensor).has(kHasTangent);
  };
  for (int i = 0; i < call.inputs.count; ++i)
    if (has_tangent(call.inputs[i])) return true;
  return std::any_of(call.outputs.begin(), call.outputs.end(), has_tangent);
}

}  // namespace

ForwardMode::ForwardMode(const OpCall& call) {
  if (may_have_tangents(call)) [[unlikely]]
    find_tangents(call);
}

void ForwardMode::find_tangents(const OpCall& call) {
  // Ops without any derivative are refused below, not passed over.
  const SlotSet differentiable = call.op.differentiable ? call.op.differentiable : ~SlotSet(0);
  SlotSet found = 0;
  std::vector<Tensor> tangents(static_cast<size_t>(call.inputs.count));
  for (int i = 0; i < call.inputs.count; ++i) {
    if (!call.inputs[i].defined() || !(differentiable & in_slot(i))) continue;
    tangents[size_t(i)] = autograd::tangent_of(call.inputs[i]);
    if (tangents[size_t(i)].defined()) found |= in_slot(i);
  }
  bool target_has_tangent = false;
  for (const Tensor& target : call.outputs)
    target_has_tangent |= target.defined() && autograd::tangent_of(target).defined();
  active_ = found || target_has_tangent;
  if (!active_) return;
  const OpInfo& info = *call.op.info;
  HEARTH_CHECK_AS(NotImplementedError, call.binding != Binding::kOut,
                  "Trying to use forward AD with ", info.name,
                  "_out that does not support it because it is an out= function");
  if (!found) return;
  in_ = std::move(tangents);
  if (call.binding != Binding::kInplace || !call.op.grad) return;
  const SlotSet saves = call.op.saves(call.op, call.args, found);
  const AutoFwGradMode off(false);
  for (int i = 0; i < call.inputs.count && !before_.defined(); ++i)
    if ((saves & in_slot(i)) && call.inputs[i].is_same(call.outputs[0]))
      before_ = call.inputs[i].clone();
}

void ForwardMode::finish(const OpCall& call) {
  if (!active_) [[likely]]
    return;
  const ModesGuard restored;
  modes.forward_grad_enabled = false;
  modes.flags &= ~uint32_t(kDualLevel | kAutocast | kReusesOps);
  std::vector<Tensor> tangents(call.outputs.size());
  if (in_.empty()) {  // the op overwrites the target with values that have no tangent
  } else if (call.op.info->effect == Effect::kView) {
    tangents = tangents_of_views(call);
  } else {
    bool differentiable = false;
    for (size_t i = 0; i < call.outputs.size(); ++i)
      differentiable |= is_differentiable_output(call, i);
    if (!differentiable) return;
    HEARTH_CHECK_AS(NotImplementedError, call.op.grad, "Trying to use forward AD with ",
                    call.op.info->name,
                    " that does not support it because it has not been implemented yet.");
    if (call.op.functor >= 0 && !any_complex(call))
      tangents[0] = tangent_of_elements(call);
    else
      tangents = tangents_by_adjoint(call);
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.binding == Binding::kInplace)
      autograd::update_tangent(call.outputs[i], tangents[i]);
    else if (!tangents[i].defined())
      continue;
    else if (call.op.info->effect == Effect::kView)
      autograd::set_view_tangent(call.outputs[i], tangents[i]);
    else
      autograd::set_tangent(call.outputs[i], apart_from_inputs(tangents[i]));
  }
}

/// The tangent, or a copy if a formula has returned the tangent of an input: in-place ops on the
/// output must not change it.
Tensor ForwardMode::apart_from_inputs(const Tensor& tangent) const {
  for (const Tensor& input : in_)
    if (input.defined() && tangent.is_alias_of(input)) return tangent.clone();
  return tangent;
}

/// Views are linear: the tangent of a view is the same view of the tangent.
std::vector<Tensor> ForwardMode::tangents_of_views(const OpCall& call) const {
  std::vector<const Tensor*> inputs(call.inputs.tensors, call.inputs.tensors + call.inputs.count);
  inputs[0] = &in_[0];
  OpCall same{call.op, call.args, {inputs.data(), call.inputs.count}};
  run(same);
  return {same.outputs.begin(), same.outputs.end()};
}

/// The Jacobian of a pointwise op is diagonal, so its product with a tangent is that of its
/// transpose: the formula of the gradient.
Tensor ForwardMode::tangent_of_elements(const OpCall& call) const {
  const Tensor& out = call.outputs[0];
  const bool recorded = is_recorded(call, in_);
  const AutoGradMode mode(recorded);
  Tensor total;
  for (int i = 0; i < call.inputs.count; ++i) {
    if (!in_[size_t(i)].defined()) continue;
    CallGrad context(call, before_, !recorded, false);
    context.wanted[size_t(i)] = true;
    const Tensor tangent = in_[size_t(i)].to(out.device(), out.scalar_type());
    context.grads = {tangent.expand(out.sizes())};
    call.op.grad(call.op, call.args, context);
    const Tensor& term = context.results[size_t(i)];
    if (term.defined()) total = total.defined() ? total.add(term) : term;
  }
  return total.defined() ? total.expand(out.sizes()) : total;
}

/// The gradients of the inputs are a linear function of those of the outputs. Its own gradient is
/// the product of the Jacobian and the tangents.
std::vector<Tensor> ForwardMode::tangents_by_adjoint(const OpCall& call) const {
  const bool recorded = is_recorded(call, in_);
  CallGrad context(call, before_, !recorded, true);
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
    for (size_t i = 0; i < in_.size(); ++i) context.wanted[i] = in_[i].defined();
    call.op.grad(call.op, call.args, context);
  }
  for (size_t i = 0; i < in_.size(); ++i) {
    const Tensor& gradient = context.results[i];
    if (!context.wanted[i] || !gradient.defined() || !gradient.requires_grad()) continue;
    const bool drops_imaginary = in_[i].is_complex() && !gradient.is_complex();
    const Tensor tangent = drops_imaginary ? real(in_[i]) : in_[i];
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
