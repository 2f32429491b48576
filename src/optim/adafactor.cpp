#include "hearth/optim/adafactor.h"

#include <cmath>

#include "hearth/shards.h"
#include "optim/field_lists.h"
#include "optim/fused.h"

namespace hearth::optim {

void AdafactorOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("beta2_decay", beta2_decay_);
  f.nested("eps", [this](Fields& pair) {
    optional_field(pair, "0", std::get<0>(eps_));
    pair.field("1", std::get<1>(eps_));
  });
  f.field("d", d_);
  f.field("weight_decay", weight_decay_);
  f.field("maximize", maximize_);
}

void AdafactorParamState::fields(Fields& f) {
  f.field("step", step_);
  f.field("row_var", row_var_);
  f.field("col_var", col_var_);
  f.field("variance", variance_);
}

namespace {

/// Returns a parameter's sizes with size 1 in dimension -dim.
std::vector<int64_t> reduced_sizes(const Tensor& param, int64_t dim) {
  std::vector<int64_t> sizes = param.sizes().vec();
  sizes[sizes.size() - size_t(dim)] = 1;
  return sizes;
}

}  // namespace

bool AdafactorParamState::fits(const std::string& name, const Tensor& value,
                               const Tensor& param) const {
  if (name == "variance" || param.dim() < 2) return value.sizes().equals(param.sizes());
  return value.sizes().equals(reduced_sizes(param, name == "row_var" ? 1 : 2));
}

namespace {

std::unique_ptr<AdafactorOptions> checked(const AdafactorOptions& options) {
  const auto [eps1, eps2] = options.eps();
  HEARTH_CHECK(options.lr() >= 0, "Learning rate should be >= 0 but is: ", options.lr());
  HEARTH_CHECK(options.beta2_decay() <= 0,
               "beta2_decay should be <= 0 but is: ", options.beta2_decay());
  HEARTH_CHECK(!eps1 || *eps1 >= 0, "epsilon1 should be >= 0 but is: ", eps1.value_or(0));
  HEARTH_CHECK(eps2 >= 0, "epsilon2 should be >= 0 but is: ", eps2);
  HEARTH_CHECK(options.d() >= 1, "Clipping threshold d should be >= 1 but is: ", options.d());
  HEARTH_CHECK(options.weight_decay() >= 0,
               "weight_decay should be >= 0 but is: ", options.weight_decay());
  return std::make_unique<AdafactorOptions>(options);
}

/// The difference between 1 and the next number of a floating dtype.
double epsilon_of(ScalarType dtype) {
  if (dtype == kHalf) return 0x1p-10;
  if (dtype == kBFloat16) return 0x1p-7;
  return dtype == kDouble ? 0x1p-52 : 0x1p-23;
}

double root_mean_square(const Tensor& x) {
  return x.norm().item().toDouble() / std::sqrt(static_cast<double>(x.numel()));
}

/// mean = (1 - weight) * mean + weight * (the mean of grad^2 along dimension -dim).
void update_mean(Tensor& mean, const Tensor& grad, int64_t dim, double weight) {
  if (!mean.defined()) mean = zeros(reduced_sizes(grad, dim), grad.options());
  const Tensor norm = grad.norm(2, {-dim}, /*keepdim=*/true);
  mean.lerp_(norm.square_().div_(grad.size(-dim)), weight);
}

/// Updates the state, and returns the estimate of the mean of grad^2 in new memory.
Tensor variance_of(AdafactorParamState& state, const Tensor& grad, double weight, double eps) {
  if (grad.dim() < 2) {
    if (!state.variance().defined()) state.variance(zeros_like(grad));
    return state.variance().lerp_(grad.square(), weight).clone();
  }
  update_mean(state.row_var(), grad, 1, weight);
  update_mean(state.col_var(), grad, 2, weight);
  return state.row_var()
      .mul(state.col_var())
      .div_(state.row_var().mean({-2}, /*keepdim=*/true).clamp_min_(eps));
}

void update_one(const AdafactorOptions& options, const Tensor& param, const Tensor& gradient,
                AdafactorParamState& state) {
  const auto step = static_cast<double>(state.step() + 1);
  if (param.numel() == 0) return;
  const Tensor grad = options.maximize() ? gradient.neg() : gradient;
  const double eps1 = std::get<0>(options.eps()).value_or(epsilon_of(param.scalar_type()));
  const double rate = std::max(std::get<1>(options.eps()), root_mean_square(param)) *
                      std::min(options.lr(), 1 / std::sqrt(step));
  if (options.weight_decay() != 0) param.mul_(1 - options.lr() * options.weight_decay());
  const Tensor variance = variance_of(state, grad, std::pow(step, options.beta2_decay()), eps1);
  const Tensor change = variance.clamp_min_(eps1 * eps1).rsqrt_().mul_(grad);
  param.add_(change, -rate / std::max(1.0, root_mean_square(change) / options.d()));
}

void update_adafactor(const AdafactorOptions& options, const Batch<AdafactorParamState>& batch) {
  for (size_t i = 0; i < batch.params.size(); ++i) {
    update_one(options, batch.params[i], batch.grads[i], *batch.states[i]);
    ++batch.states[i]->step();
  }
}

}  // namespace

HEARTH_DEFINE_OPTIMIZER(Adafactor)

Tensor Adafactor::step(LossClosure closure) {
  for (const auto& group : param_groups_) check_whole("Adafactor", group.params());
  return fused_step<AdafactorOptions, AdafactorParamState>(*this, closure, update_adafactor);
}

}  // namespace hearth::optim
