#include "hearth/optim/adamax.h"

#include "optim/fused.h"

namespace hearth::optim {

void AdamaxOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("betas", betas_);
  f.field("eps", eps_);
  f.field("weight_decay", weight_decay_);
  f.field("maximize", maximize_);
}

void AdamaxParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("exp_avg", exp_avg_);
  f.field("exp_inf", exp_inf_);
}

namespace {

std::unique_ptr<AdamaxOptions> checked(const AdamaxOptions& options) {
  check_adaptive(options);
  return std::make_unique<AdamaxOptions>(options);
}

void update_adamax(const AdamaxOptions& options, const Batch<AdamaxParamState>& batch) {
  for_equal_steps(batch, [&options](int64_t step, const Batch<AdamaxParamState>& part) {
    _fused_adamax_(part.params, part.grads, part.tensors(&AdamaxParamState::exp_avg),
                   part.tensors(&AdamaxParamState::exp_inf), step, options.lr(),
                   std::get<0>(options.betas()), std::get<1>(options.betas()),
                   options.weight_decay(), options.eps(), options.maximize());
  });
}

}  // namespace

template class BetaOptions<AdamaxOptions>;
HEARTH_DEFINE_OPTIMIZER(Adamax)

Tensor Adamax::step(LossClosure closure) {
  return fused_step<AdamaxOptions, AdamaxParamState>(*this, closure, update_adamax);
}

}  // namespace hearth::optim
