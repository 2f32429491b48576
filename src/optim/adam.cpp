// Adam and AdamW, which differ in two defaults.
#include "hearth/optim/adam.h"

#include <utility>

#include "hearth/optim/adamw.h"
#include "hearth/tensor_literal.h"
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

int64_t AdamParamState::step() const {
  return device_step_.defined() ? int64_t(device_step_.item<float>()) : step_;
}
int64_t& AdamParamState::step() { return step_ = std::as_const(*this).step(); }
AdamParamState& AdamParamState::step(int64_t new_step) {
  if (device_step_.defined()) device_step_.fill_(new_step);
  step_ = new_step;
  return *this;
}

void AdamParamState::fields(Fields& f) {
  if (f.loading()) device_step_.reset();
  f.field("step", step());
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

/// Throws if a group is capturable and its parameters are not on a GPU.
template <class Options>
void check_device(const Options& options, const Batch<AdamParamState>& batch) {
  HEARTH_CHECK(!options.capturable() || batch.params[0].is_cuda(),
               "If capturable=True, params and state_steps must be on supported devices: "
               "['cuda'].");
}

/// Moves the counts of the states that have none on the device there, one after the other in
/// memory.
void create_counts(const Batch<AdamParamState>& batch) {
  std::vector<AdamParamState*> states;
  std::vector<float> steps;
  for (AdamParamState* state : batch.states)
    if (!state->device_step().defined()) {
      states.push_back(state);
      steps.push_back(float(state->step()));
    }
  if (states.empty()) return;
  check_creates_state(batch.params[0]);
  const Tensor counts = tensor(steps, kFloat).to(batch.params[0].device());
  for (size_t i = 0; i < states.size(); ++i) states[i]->device_step(counts[int64_t(i)]);
}

/// Counts the next step of each state on the device, which a replay of a graph does again; returns
/// the counts. One launch suffices for those that create_counts() created together.
std::vector<Tensor> count_on_device(const Batch<AdamParamState>& batch) {
  create_counts(batch);
  std::vector<Tensor> counts;
  for (AdamParamState* state : batch.states) counts.push_back(state->device_step());
  for (size_t begin = 0, end = 0; begin < counts.size(); begin = end) {
    const Tensor& first = counts[begin];
    const auto follows = [&](const Tensor& count, size_t distance) {
      return count.is_alias_of(first) &&
             count.storage_offset() == first.storage_offset() + int64_t(distance);
    };
    while (end < counts.size() && follows(counts[end], end - begin)) ++end;
    first.as_strided({int64_t(end - begin)}, {1}).add_(1);
  }
  return counts;
}

/// The numbers of the next steps, the argument of the operators.
template <class Options>
std::vector<Tensor> steps_of(const Options& options, const Batch<AdamParamState>& batch) {
  if (options.capturable()) return count_on_device(batch);
  for (AdamParamState* state : batch.states)
    if (state->device_step().defined()) {
      const int64_t steps = std::as_const(*state).step();
      state->device_step().reset();
      state->step(steps);
    }
  return next_steps(batch);
}

template <class Options>
Tensor step_with(Optimizer& optimizer, const Optimizer::LossClosure& closure) {
  const auto update = [](const Options& options, const Batch<AdamParamState>& batch) {
    check_device(options, batch);
    std::vector<Tensor> max_squares;
    if (options.amsgrad()) max_squares = batch.tensors(&AdamParamState::max_exp_avg_sq);
    const std::vector<Tensor> means = batch.tensors(&AdamParamState::exp_avg),
                              squares = batch.tensors(&AdamParamState::exp_avg_sq);
    const auto op = options.decoupled_weight_decay() ? _fused_adamw_ : _fused_adam_;
    op(batch.params, batch.grads, means, squares, max_squares, steps_of(options, batch),
       options.lr(), std::get<0>(options.betas()), std::get<1>(options.betas()),
       options.weight_decay(), options.eps(), options.amsgrad(), options.maximize(), {}, {});
    if (!options.capturable()) count_steps(batch);
  };
  return fused_step<Options, AdamParamState>(optimizer, closure, update);
}

/// Moves the counts of capturable groups to the device after loading, so that the next step can be
/// captured.
template <class Options>
void count_loaded(Optimizer& optimizer) {
  const NoGradGuard no_grad;
  const MemoryTagGuard tag(MemoryTag::OptimizerState);
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    if (!options_of<Options>(group).capturable()) continue;
    std::vector<Batch<AdamParamState>> batches;
    for (const Tensor& param : group.params()) {
      const auto found = optimizer.state().find(param.unsafeGetTensorImpl());
      if (!param.is_cuda() || found == optimizer.state().end()) continue;
      Batch<AdamParamState>& batch = batch_of(batches, param);
      batch.params.push_back(param);
      batch.states.push_back(static_cast<AdamParamState*>(found->second.get()));
    }
    for (const Batch<AdamParamState>& batch : batches) create_counts(batch);
  }
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

void Adam::after_load() { count_loaded<AdamOptions>(*this); }
void AdamW::after_load() { count_loaded<AdamWOptions>(*this); }

}  // namespace hearth::optim
