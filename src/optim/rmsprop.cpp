#include "hearth/optim/rmsprop.h"

#include "optim/fused.h"

namespace hearth::optim {

template <>
inline constexpr bool kUsesStepCount<RMSpropParamState> = false;

template class OptimizerCloneableOptions<RMSpropOptions>;

void RMSpropOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("alpha", alpha_);
  f.field("eps", eps_);
  f.field("weight_decay", weight_decay_);
  f.field("momentum", momentum_);
  f.field("centered", centered_);
  f.field("maximize", maximize_);
}

void RMSpropParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("square_avg", square_avg_);
  f.field("momentum_buffer", momentum_buffer_);
  f.field("grad_avg", grad_avg_);
}

namespace {

std::unique_ptr<RMSpropOptions> checked(const RMSpropOptions& options) {
  check_not_negative(options.lr(), "learning rate");
  check_not_negative(options.eps(), "epsilon value");
  check_not_negative(options.momentum(), "momentum value");
  check_not_negative(options.weight_decay(), "weight_decay value");
  check_not_negative(options.alpha(), "alpha value");
  return std::make_unique<RMSpropOptions>(options);
}

void update_rmsprop(const RMSpropOptions& options, const Batch<RMSpropParamState>& batch) {
  std::vector<Tensor> means, buffers;
  if (options.centered()) means = batch.tensors(&RMSpropParamState::grad_avg);
  if (options.momentum() > 0) buffers = batch.tensors(&RMSpropParamState::momentum_buffer);
  _fused_rmsprop_(batch.params, batch.grads, batch.tensors(&RMSpropParamState::square_avg), means,
                  buffers, options.lr(), options.alpha(), options.eps(), options.weight_decay(),
                  options.momentum(), options.centered(), options.maximize());
  count_steps(batch);
}

}  // namespace

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults)
    : Optimizer(param_groups, checked(defaults)) {}
RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

std::unique_ptr<OptimizerParamState> RMSprop::make_state() const {
  return std::make_unique<RMSpropParamState>();
}

Tensor RMSprop::step(LossClosure closure) {
  return fused_step<RMSpropOptions, RMSpropParamState>(*this, closure, update_rmsprop);
}

}  // namespace hearth::optim
