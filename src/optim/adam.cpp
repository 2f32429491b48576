// Adam and AdamW differ in one operator and one default.
#include "hearth/optim/adam.h"

#include "hearth/optim/adamw.h"
#include "optim/fused.h"

namespace hearth::optim {

namespace {

template <class Options>
void option_fields(Options& options, Fields& f) {
  f.field("lr", options.lr());
  f.field("betas", options.betas());
  f.field("eps", options.eps());
  f.field("weight_decay", options.weight_decay());
  f.field("amsgrad", options.amsgrad());
  f.field("maximize", options.maximize());
}

template <class State>
void state_fields(State& state, Fields& f) {
  f.field("step", state.step());
  f.field("exp_avg", state.exp_avg());
  f.field("exp_avg_sq", state.exp_avg_sq());
  f.field("max_exp_avg_sq", state.max_exp_avg_sq());
}

void check_beta(double beta, int index) {
  HEARTH_CHECK_AS(ValueError, 0 <= beta && beta < 1, "Invalid beta parameter at index ", index,
                  ": ", beta);
}

template <class Options>
std::unique_ptr<Options> checked(const Options& options) {
  check_not_negative(options.lr(), "learning rate");
  check_not_negative(options.eps(), "epsilon value");
  check_beta(std::get<0>(options.betas()), 0);
  check_beta(std::get<1>(options.betas()), 1);
  check_not_negative(options.weight_decay(), "weight_decay value");
  return std::make_unique<Options>(options);
}

using StepOp = decltype(&_fused_adam_);

template <class Options, class State>
Tensor step_with(StepOp op, Optimizer& optimizer, const Optimizer::LossClosure& closure) {
  const auto update = [op](const Options& options, const Batch<State>& batch) {
    std::vector<Tensor> largest;
    if (options.amsgrad()) largest = batch.tensors(&State::max_exp_avg_sq);
    const std::vector<Tensor> means = batch.tensors(&State::exp_avg),
                              squares = batch.tensors(&State::exp_avg_sq);
    op(batch.params, batch.grads, means, squares, largest, count_steps(batch), options.lr(),
       std::get<0>(options.betas()), std::get<1>(options.betas()), options.weight_decay(),
       options.eps(), options.amsgrad(), options.maximize(), {}, {});
  };
  return fused_step<Options, State>(optimizer, closure, update);
}

}  // namespace

void AdamOptions::fields(Fields& f) { option_fields(*this, f); }
void AdamParamState::fields(Fields& f) { state_fields(*this, f); }
void AdamWOptions::fields(Fields& f) { option_fields(*this, f); }
void AdamWParamState::fields(Fields& f) { state_fields(*this, f); }

Adam::Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults)
    : Optimizer(param_groups, checked(defaults)) {}
Adam::Adam(std::vector<Tensor> params, AdamOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}
AdamW::AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults)
    : Optimizer(param_groups, checked(defaults)) {}
AdamW::AdamW(std::vector<Tensor> params, AdamWOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

std::unique_ptr<OptimizerParamState> Adam::make_state() const {
  return std::make_unique<AdamParamState>();
}
std::unique_ptr<OptimizerParamState> AdamW::make_state() const {
  return std::make_unique<AdamWParamState>();
}

Tensor Adam::step(LossClosure closure) {
  return step_with<AdamOptions, AdamParamState>(_fused_adam_, *this, closure);
}
Tensor AdamW::step(LossClosure closure) {
  return step_with<AdamWOptions, AdamWParamState>(_fused_adamw_, *this, closure);
}

}  // namespace hearth::optim
