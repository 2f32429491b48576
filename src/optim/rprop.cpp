#include "hearth/optim/rprop.h"

#include "optim/fused.h"

namespace hearth::optim {

template <>
inline constexpr bool kUsesStepCount<RpropParamState> = false;

void RpropOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("etas", etas_);
  f.field("step_sizes", step_sizes_);
  f.field("maximize", maximize_);
}

void RpropParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("prev", prev_);
  f.field("step_size", step_size_);
}

namespace {

std::unique_ptr<RpropOptions> checked(const RpropOptions& options) {
  check_not_negative(options.lr(), "learning rate");
  const auto [shrink, grow] = options.etas();
  HEARTH_CHECK(0 < shrink && shrink < 1 && 1 < grow, "Invalid eta values: ", shrink, ", ", grow);
  return std::make_unique<RpropOptions>(options);
}

void update_rprop(const RpropOptions& options, const Batch<RpropParamState>& batch) {
  for (size_t i = 0; i < batch.params.size(); ++i)
    if (Tensor& size = batch.states[i]->step_size(); !size.defined())
      size = full_like(batch.params[i], options.lr());
  _fused_rprop_(batch.params, batch.grads, batch.tensors(&RpropParamState::prev),
                batch.tensors(&RpropParamState::step_size), std::get<0>(options.etas()),
                std::get<1>(options.etas()), std::get<0>(options.step_sizes()),
                std::get<1>(options.step_sizes()), options.maximize());
  count_steps(batch);
}

}  // namespace

HEARTH_DEFINE_OPTIMIZER(Rprop)

Tensor Rprop::step(LossClosure closure) {
  return fused_step<RpropOptions, RpropParamState>(*this, closure, update_rprop);
}

}  // namespace hearth::optim
