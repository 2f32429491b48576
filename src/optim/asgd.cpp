#include "hearth/optim/asgd.h"

#include <cmath>
#include <tuple>

#include "optim/fused.h"

namespace hearth::optim {

void ASGDOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("lambd", lambd_);
  f.field("alpha", alpha_);
  f.field("t0", t0_);
  f.field("weight_decay", weight_decay_);
  f.field("maximize", maximize_);
}

void ASGDParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("eta", eta_);
  f.field("mu", mu_);
  f.field("ax", ax_);
}

namespace {

std::unique_ptr<ASGDOptions> checked(const ASGDOptions& options) {
  check_not_negative(options.lr(), "learning rate");
  check_not_negative(options.lambd(), "lambd value");
  check_not_negative(options.alpha(), "alpha value");
  check_not_negative(options.weight_decay(), "weight_decay value");
  return std::make_unique<ASGDOptions>(options);
}

/// Counts a step, and computes eta and mu of the next one, rounded to float32 as in PyTorch.
void advance(const ASGDOptions& options, ASGDParamState& state) {
  const auto step = static_cast<double>(++state.step());
  const double growth = 1 + options.lambd() * options.lr() * step;
  state.eta(static_cast<float>(options.lr() / std::pow(growth, options.alpha())));
  state.mu(static_cast<float>(1 / std::max(1.0, step - options.t0())));
}

void update_asgd(const ASGDOptions& options, const Batch<ASGDParamState>& batch) {
  for (ASGDParamState* state : batch.states)
    if (state->step() == 0) state->eta(static_cast<float>(options.lr()));
  const auto key = [](ASGDParamState& state) { return std::pair(state.eta(), state.mu()); };
  for_equal(batch, key,
            [&](std::pair<double, double> eta_and_mu, const Batch<ASGDParamState>& part) {
              _fused_asgd_(part.params, part.grads, part.tensors(&ASGDParamState::ax),
                           options.lambd(), eta_and_mu.first, eta_and_mu.second,
                           options.weight_decay(), options.maximize());
              for (ASGDParamState* state : part.states) advance(options, *state);
            });
}

}  // namespace

HEARTH_DEFINE_OPTIMIZER(ASGD)

Tensor ASGD::step(LossClosure closure) {
  return fused_step<ASGDOptions, ASGDParamState>(*this, closure, update_asgd);
}

}  // namespace hearth::optim
