#include "hearth/optim/muon.h"

#include <cmath>

#include "hearth/shards.h"
#include "optim/field_lists.h"
#include "optim/fused.h"

namespace hearth::optim {

template class OptimizerCloneableOptions<MuonOptions>;
template class RateOptions<MuonOptions>;

void MuonOptions::fields(Fields& f) {
  f.field("lr", lr_);
  f.field("weight_decay", weight_decay_);
  f.field("momentum", momentum_);
  f.field("nesterov", nesterov_);
  f.nested("ns_coefficients", [this](Fields& list) {
    list.field("0", std::get<0>(ns_coefficients_));
    list.field("1", std::get<1>(ns_coefficients_));
    list.field("2", std::get<2>(ns_coefficients_));
  });
  f.field("eps", eps_);
  f.field("ns_steps", ns_steps_);
  optional_field(f, "adjust_lr_fn", adjust_lr_fn_);
}

void MuonParamState::fields(Fields& f) { f.field("momentum_buffer", momentum_buffer_); }

namespace {

/// Returns the factor of the learning rate for a parameter; throws for an unknown adjust_lr_fn.
double rate_factor(const MuonOptions& options, double rows, double columns) {
  const std::string name = options.adjust_lr_fn().value_or("original");
  if (name == "match_rms_adamw") return 0.2 * std::sqrt(std::max(rows, columns));
  if (name == "spectral_unclamped") return std::sqrt(rows / columns);
  HEARTH_CHECK_AS(ValueError, name == "original", "Adjust learning rate function ", name,
                  " is not supported");
  return std::sqrt(std::max(1.0, rows / columns));
}

std::unique_ptr<MuonOptions> checked(const MuonOptions& options) {
  const auto check = [](double value, const char* name) {
    HEARTH_CHECK_AS(ValueError, value >= 0, name, " should be >= 0 but is: ", value);
  };
  check(options.lr(), "Learning rate");
  check(options.momentum(), "momentum");
  check(options.weight_decay(), "weight decay");
  rate_factor(options, 1, 1);
  return std::make_unique<MuonOptions>(options);
}

/// Returns x with its singular values moved near 1, by Newton-Schulz iterations.
Tensor orthogonalized(const MuonOptions& options, const Tensor& x) {
  HEARTH_CHECK_AS(ValueError, options.ns_steps() < 100,
                  "Number of steps must be less than 100 for computational efficiency");
  const auto [a, b, c] = options.ns_coefficients();
  const bool is_tall = x.size(0) > x.size(1);
  Tensor wide = (is_tall ? x.t() : x).to(kBFloat16);
  wide = wide / wide.norm().clamp_min(options.eps());
  for (int64_t i = 0; i < options.ns_steps(); ++i) {
    const Tensor gram = wide.mm(wide.t());
    wide = addmm(wide, addmm(gram, gram, gram, b, c), wide, a);
  }
  return is_tall ? wide.t() : wide;
}

void check_matrix(const Tensor& param) {
  HEARTH_CHECK_AS(ValueError, param.dim() == 2,
                  "Muon only supports 2D parameters whereas we found a parameter with size: "
                  "torch.Size(",
                  param.sizes(), ")");
}

void check_matrices(const Optimizer& optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& param : group.params()) check_matrix(param);
}

void update_muon(const MuonOptions& options, const Batch<MuonParamState>& batch) {
  for (const Tensor& param : batch.params) check_matrix(param);
  const std::vector<Tensor> buffers = batch.tensors(&MuonParamState::momentum_buffer);
  _foreach_lerp_(buffers, batch.grads, 1 - options.momentum());
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor &param = batch.params[i], &grad = batch.grads[i];
    if (param.numel() == 0) continue;
    const Tensor change = orthogonalized(
        options, options.nesterov() ? grad.lerp(buffers[i], options.momentum()) : buffers[i]);
    const double factor = rate_factor(options, static_cast<double>(param.size(0)),
                                      static_cast<double>(param.size(1)));
    param.mul_(1 - options.lr() * options.weight_decay());
    param.add_(change, -options.lr() * factor);
  }
}

}  // namespace

Muon::Muon(const std::vector<OptimizerParamGroup>& param_groups, MuonOptions defaults)
    : Optimizer(param_groups, checked(defaults)) {
  check_matrices(*this);
}
Muon::Muon(std::vector<Tensor> params, MuonOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {
  check_matrices(*this);
}

std::unique_ptr<OptimizerParamState> Muon::make_state() const {
  return std::make_unique<MuonParamState>();
}

Tensor Muon::step(LossClosure closure) {
  for (const auto& group : param_groups_) check_whole("Muon", group.params());
  return fused_step<MuonOptions, MuonParamState>(*this, closure, update_muon);
}

}  // namespace hearth::optim
