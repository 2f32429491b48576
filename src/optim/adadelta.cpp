#include "hearth/optim/adadelta.h"

#include "optim/fused.h"

namespace hearth::optim {

template <>
inline constexpr bool kUsesStepCount<AdadeltaParamState> = false;

void AdadeltaOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("rho", rho_);
  f.field("eps", eps_);
  f.field("weight_decay", weight_decay_);
  f.field("maximize", maximize_);
}

void AdadeltaParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("square_avg", square_avg_);
  f.field("acc_delta", acc_delta_);
}

namespace {

std::unique_ptr<AdadeltaOptions> checked(const AdadeltaOptions& options) {
  check_not_negative(options.lr(), "learning rate");
  HEARTH_CHECK(0 <= options.rho() && options.rho() <= 1, "Invalid rho value: ", options.rho());
  check_not_negative(options.eps(), "epsilon value");
  check_not_negative(options.weight_decay(), "weight_decay value");
  return std::make_unique<AdadeltaOptions>(options);
}

void update_adadelta(const AdadeltaOptions& options, const Batch<AdadeltaParamState>& batch) {
  _fused_adadelta_(batch.params, batch.grads, batch.tensors(&AdadeltaParamState::square_avg),
                   batch.tensors(&AdadeltaParamState::acc_delta), options.lr(), options.rho(),
                   options.eps(), options.weight_decay(), options.maximize());
  count_steps(batch);
}

}  // namespace

HEARTH_DEFINE_OPTIMIZER(Adadelta)

Tensor Adadelta::step(LossClosure closure) {
  return fused_step<AdadeltaOptions, AdadeltaParamState>(*this, closure, update_adadelta);
}

}  // namespace hearth::optim
