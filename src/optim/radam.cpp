#include "hearth/optim/radam.h"

#include "optim/fused.h"

namespace hearth::optim {

void RAdamOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("betas", betas_);
  f.field("eps", eps_);
  f.field("weight_decay", weight_decay_);
  f.field("decoupled_weight_decay", decoupled_weight_decay_);
  f.field("maximize", maximize_);
}

void RAdamParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("exp_avg", exp_avg_);
  f.field("exp_avg_sq", exp_avg_sq_);
}

namespace {

std::unique_ptr<RAdamOptions> checked(const RAdamOptions& options) {
  check_adaptive(options);
  return std::make_unique<RAdamOptions>(options);
}

void update_radam(const RAdamOptions& options, const Batch<RAdamParamState>& batch) {
  for_equal_steps(batch, [&options](int64_t step, const Batch<RAdamParamState>& part) {
    _fused_radam_(part.params, part.grads, part.tensors(&RAdamParamState::exp_avg),
                  part.tensors(&RAdamParamState::exp_avg_sq), step, options.lr(),
                  std::get<0>(options.betas()), std::get<1>(options.betas()),
                  options.weight_decay(), options.eps(), options.decoupled_weight_decay(),
                  options.maximize());
  });
}

}  // namespace

template class BetaOptions<RAdamOptions>;
HEARTH_DEFINE_OPTIMIZER(RAdam)

Tensor RAdam::step(LossClosure closure) {
  return fused_step<RAdamOptions, RAdamParamState>(*this, closure, update_radam);
}

}  // namespace hearth::optim
