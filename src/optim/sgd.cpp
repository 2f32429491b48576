#include "hearth/optim/sgd.h"

#include <limits>

#include "optim/fused.h"

namespace hearth::optim {

template class OptimizerCloneableOptions<SGDOptions>;

void SGDOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("momentum", momentum_);
  f.field("dampening", dampening_);
  f.field("weight_decay", weight_decay_);
  f.field("nesterov", nesterov_);
  f.field("maximize", maximize_);
}

/// Sets the learning rate to NaN. NaN equals no value, so a group's learning rate always counts as
/// set by the user.
hearth::detail::OwnedPtr<OptimizerOptions> SGDOptions::unset() const {
  return hearth::detail::OwnedPtr<OptimizerOptions>(
      new SGDOptions(std::numeric_limits<double>::quiet_NaN()));
}

void SGDParamState::fields(Fields& f) { f.field("momentum_buffer", momentum_buffer_); }

namespace {

std::unique_ptr<SGDOptions> checked(const SGDOptions& options) {
  check_not_negative(options.lr(), "learning rate");
  check_not_negative(options.momentum(), "momentum value");
  check_not_negative(options.weight_decay(), "weight_decay value");
  HEARTH_CHECK(!options.nesterov() || (options.momentum() > 0 && options.dampening() == 0),
               "Nesterov momentum requires a momentum and zero dampening");
  return std::make_unique<SGDOptions>(options);
}

}  // namespace

SGD::SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
    : Optimizer(param_groups, checked(defaults)) {}
SGD::SGD(std::vector<Tensor> params, SGDOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

std::unique_ptr<OptimizerParamState> SGD::make_state() const {
  return std::make_unique<SGDParamState>();
}

namespace {

bool has_momentum(const SGDOptions& options) { return options.momentum() != 0; }

/// Updates a batch. As in LibTorch, a step does not count as an in-place change, so a graph that
/// used the parameters may still run backward. In a first step, the momentum buffers are stored
/// only after the update, so that an error leaves no state behind.
void step_batch(const SGDOptions& options, const Batch<SGDParamState>& batch, bool is_first_step) {
  std::vector<Tensor> buffers;
  if (is_first_step)
    for (const Tensor& param : batch.params) buffers.push_back(zeros_like(param));
  else if (has_momentum(options))
    buffers = batch.tensors(&SGDParamState::momentum_buffer);
  const autograd::PreserveVersionGuard preserve_versions(batch.params);
  _fused_sgd_(batch.params, batch.grads, buffers, options.weight_decay(), options.momentum(),
              options.lr(), options.dampening(), options.nesterov(), options.maximize(),
              is_first_step);
  for (size_t i = 0; is_first_step && i < buffers.size(); ++i)
    batch.states[i]->momentum_buffer(buffers[i]);
}

void update_sgd(const SGDOptions& options, const Batch<SGDParamState>& batch) {
  if (batch.states.empty()) return step_batch(options, batch, false);
  const auto is_first = [](SGDParamState& state) { return !state.momentum_buffer().defined(); };
  for_equal(batch, is_first, [&options](bool is_first_step, const Batch<SGDParamState>& part) {
    step_batch(options, part, is_first_step);
  });
}

}  // namespace

Tensor SGD::step(LossClosure closure) {
  return fused_step<SGDOptions, SGDParamState>(*this, closure, update_sgd, has_momentum);
}

}  // namespace hearth::optim
