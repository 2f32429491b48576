#include "hearth/optim/adagrad.h"

#include "optim/fused.h"

namespace hearth::optim {

template class OptimizerCloneableOptions<AdagradOptions>;

void AdagradOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("lr_decay", lr_decay_);
  f.field("weight_decay", weight_decay_);
  f.field("initial_accumulator_value", initial_accumulator_value_);
  f.field("eps", eps_);
  f.field("maximize", maximize_);
}

void AdagradParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("sum", sum_);
}

namespace {

std::unique_ptr<AdagradOptions> checked(const AdagradOptions& options) {
  check_not_negative(options.lr(), "learning rate");
  check_not_negative(options.lr_decay(), "lr_decay value");
  check_not_negative(options.weight_decay(), "weight_decay value");
  check_not_negative(options.initial_accumulator_value(), "initial_accumulator_value value");
  check_not_negative(options.eps(), "epsilon value");
  return std::make_unique<AdagradOptions>(options);
}

void init_state(const AdagradOptions& options, const Tensor& param, AdagradParamState& state) {
  if (!state.sum().defined())
    state.sum(full_like(param.detach(), options.initial_accumulator_value()));
}

/// Creates all state before the first step, as PyTorch does.
void init_all_states(Adagrad& optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& param : group.params())
      init_state(options_of<AdagradOptions>(group), param,
                 state_of<AdagradParamState>(optimizer, param));
}

void update_adagrad(const AdagradOptions& options, const Batch<AdagradParamState>& batch) {
  for (size_t i = 0; i < batch.params.size(); ++i)
    init_state(options, batch.params[i], *batch.states[i]);
  const std::vector<Tensor> sums = batch.tensors(&AdagradParamState::sum);
  _fused_adagrad_(batch.params, batch.grads, sums, next_steps(batch), options.lr(),
                  options.lr_decay(), options.weight_decay(), options.eps(), options.maximize());
  count_steps(batch);
}

}  // namespace

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults)
    : Optimizer(param_groups, checked(defaults)) {
  init_all_states(*this);
}
Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {
  init_all_states(*this);
}

std::unique_ptr<OptimizerParamState> Adagrad::make_state() const {
  return std::make_unique<AdagradParamState>();
}

Tensor Adagrad::step(LossClosure closure) {
  return fused_step<AdagradOptions, AdagradParamState>(*this, closure, update_adagrad);
}

}  // namespace hearth::optim
