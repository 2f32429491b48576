#include "hearth/optim/nadam.h"

#include <cmath>

#include "optim/fused.h"

namespace hearth::optim {

void NAdamOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("betas", betas_);
  f.field("eps", eps_);
  f.field("weight_decay", weight_decay_);
  f.field("momentum_decay", momentum_decay_);
  f.field("decoupled_weight_decay", decoupled_weight_decay_);
  f.field("maximize", maximize_);
}

void NAdamParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("mu_product", mu_product_);
  f.field("exp_avg", exp_avg_);
  f.field("exp_avg_sq", exp_avg_sq_);
}

namespace {

std::unique_ptr<NAdamOptions> checked(const NAdamOptions& options) {
  check_adaptive(options);
  check_not_negative(options.momentum_decay(), "momentum_decay value");
  return std::make_unique<NAdamOptions>(options);
}

using StepAndProduct = std::pair<int64_t, double>;

/// Returns the number of the next step, and the product of the momentums up to it, in float32 as in
/// PyTorch.
StepAndProduct next_step(const NAdamOptions& options, NAdamParamState& state) {
  const int64_t step = state.step() + 1;
  const double mu =  // by the schedule of NAdam's paper
      std::get<0>(options.betas()) *
      (1 - 0.5 * std::pow(0.96, static_cast<double>(step) * options.momentum_decay()));
  return {step, static_cast<float>(state.mu_product()) * static_cast<float>(mu)};
}

void update_nadam(const NAdamOptions& options, const Batch<NAdamParamState>& batch) {
  const auto key = [&options](NAdamParamState& state) { return next_step(options, state); };
  for_equal(batch, key, [&options](StepAndProduct next, const Batch<NAdamParamState>& part) {
    const auto [step, product] = next;
    _fused_nadam_(part.params, part.grads, part.tensors(&NAdamParamState::exp_avg),
                  part.tensors(&NAdamParamState::exp_avg_sq), step, product, options.lr(),
                  std::get<0>(options.betas()), std::get<1>(options.betas()),
                  options.weight_decay(), options.momentum_decay(), options.eps(),
                  options.decoupled_weight_decay(), options.maximize());
    for (NAdamParamState* state : part.states) state->step(step).mu_product(product);
  });
}

}  // namespace

template class BetaOptions<NAdamOptions>;
HEARTH_DEFINE_OPTIMIZER(NAdam)

Tensor NAdam::step(LossClosure closure) {
  return fused_step<NAdamOptions, NAdamParamState>(*this, closure, update_nadam);
}

}  // namespace hearth::optim
