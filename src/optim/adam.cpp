// Adam and AdamW, which differ in two defaults.
#include "hearth/optim/adam.h"

#include "hearth/optim/adamw.h"
#include "optim/fused.h"

namespace hearth::optim {

template <bool kDecoupled>
void BasicAdamOptions<kDecoupled>::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("betas", betas_);
  f.field("eps", eps_);
  f.field("weight_decay", weight_decay_);
  f.field("amsgrad", amsgrad_);
  f.field("maximize", maximize_);
  f.field("decoupled_weight_decay", decoupled_weight_decay_);
  f.field("capturable", capturable_);
}
template struct BasicAdamOptions<false>;
template struct BasicAdamOptions<true>;

void AdamParamState::fields(Fields& f) {
  if (f.loading()) device_step_.reset();
  if (device_step_.defined()) step_ = int64_t(device_step_.item<float>());
  f.field("step", step_);
  f.field("exp_avg", exp_avg_);
  f.field("exp_avg_sq", exp_avg_sq_);
  f.field("max_exp_avg_sq", max_exp_avg_sq_);
}

namespace {

template <class Options>
std::unique_ptr<Options> checked(const Options& options) {
  check_adaptive(options);
  return std::make_unique<Options>(options);
}

/// Counts the next step of each state on the device; returns the counts. They are sums, which a
/// replay of a graph adds up again, in one launch.
std::vector<Tensor> count_on_device(const Batch<AdamParamState>& batch) {
  const TensorOptions options = TensorOptions(kFloat).device(batch.params[0].device());
  std::vector<Tensor> counts;
  for (AdamParamState* state : batch.states) {
    Tensor& count = state->device_step();
    if (!count.defined()) count = full({}, state->step(), options);
    counts.push_back(count);
  }
  const std::vector<Tensor> ones(counts.size(), hearth::ones({}, options));
  _fused_sgd_(counts, ones, {}, 0, 0, -1, 0, false, false, false);
  return counts;
}

/// The numbers of the next steps, the argument of the operators.
template <class Options>
std::vector<Tensor> steps_of(const Options& options, const Batch<AdamParamState>& batch) {
  if (options.capturable() && batch.params[0].is_cuda()) return count_on_device(batch);
  for (AdamParamState* state : batch.states)
    if (Tensor& count = state->device_step(); count.defined()) {
      state->step(int64_t(count.item<float>()));
      count.reset();
    }
  return next_steps(batch);
}

template <class Options>
Tensor step_with(Optimizer& optimizer, const Optimizer::LossClosure& closure) {
  const auto update = [](const Options& options, const Batch<AdamParamState>& batch) {
    std::vector<Tensor> max_squares;
    if (options.amsgrad()) max_squares = batch.tensors(&AdamParamState::max_exp_avg_sq);
    const std::vector<Tensor> means = batch.tensors(&AdamParamState::exp_avg),
                              squares = batch.tensors(&AdamParamState::exp_avg_sq);
    const auto op = options.decoupled_weight_decay() ? _fused_adamw_ : _fused_adam_;
    op(batch.params, batch.grads, means, squares, max_squares, steps_of(options, batch),
       options.lr(), std::get<0>(options.betas()), std::get<1>(options.betas()),
       options.weight_decay(), options.eps(), options.amsgrad(), options.maximize(), {}, {});
    count_steps(batch);
  };
  return fused_step<Options, AdamParamState>(optimizer, closure, update);
}

}  // namespace

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
  return std::make_unique<AdamParamState>();
}

Tensor Adam::step(LossClosure closure) { return step_with<AdamOptions>(*this, closure); }
Tensor AdamW::step(LossClosure closure) { return step_with<AdamWOptions>(*this, closure); }

}  // namespace hearth::optim
