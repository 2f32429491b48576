#include "hearth/nn/normalization.h"

#include <ostream>

#include "hearth/nn/init.h"

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

namespace {
/// Throws if a channel has one value, which has no variance.
void check_values_per_channel(const Tensor& input) {
  const IntArrayRef size = input.sizes();
  int64_t values = size[0];
  for (int64_t length : size.slice(2)) values *= length;
  HEARTH_CHECK(values != 1, "Expected more than 1 value per channel when training, got input size ",
               size);
}
}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  HEARTH_CHECK(input.dim() >= 2, "Expected at least 2 input dimensions, but got ", input.dim());
  if (options.training()) check_values_per_channel(input);
  return hearth::batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                            options.training(), options.momentum(), options.eps());
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return hearth::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(),
                            options.eps());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return hearth::group_norm(input, options.num_groups(), options.weight(), options.bias(),
                            options.eps());
}

}  // namespace functional

namespace {

/// Registers the weight and bias of any normalization.
template <class M>
void register_affine(M& module, IntArrayRef shape, bool affine) {
  module.weight = module.register_parameter("weight", affine ? empty(shape) : Tensor(), affine);
  module.bias = module.register_parameter("bias", affine ? empty(shape) : Tensor(), affine);
}

template <class M>
void reset_affine(M& module) {
  if (module.weight.defined()) init::ones_(module.weight);
  if (module.bias.defined()) init::zeros_(module.bias);
}

}  // namespace

// ---- BatchNorm

template <size_t D, class Derived>
BatchNormImplBase<D, Derived>::BatchNormImplBase(const BatchNormOptions& options_)
    : options(options_) {
  BatchNormImplBase::reset();
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::reset() {
  register_affine(*this, options.num_features(), options.affine());
  const bool tracks = options.track_running_stats();
  const int64_t n = options.num_features();
  running_mean = this->register_buffer("running_mean", tracks ? zeros(n) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones(n) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::reset_parameters() {
  reset_running_stats();
  reset_affine(*this);
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto momentum = options.momentum();
  stream << str("BatchNorm", D, "d(", options.num_features(), ", eps=", options.eps(),
                ", momentum=", momentum ? str(*momentum) : "None", ", affine=", options.affine(),
                ", track_running_stats=", options.track_running_stats(), ")");
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input) {
  return run_module(static_cast<Derived&>(*this), &BatchNormImplBase::normalize, input);
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::normalize(const Tensor& input) {
  if constexpr (D == 1)
    HEARTH_CHECK(input.dim() == 2 || input.dim() == 3, "expected 2D or 3D input (got ", input.dim(),
                 "D input)");
  else
    HEARTH_CHECK(input.dim() == D + 2, "expected ", D + 2, "D input (got ", input.dim(),
                 "D input)");
  const bool tracks = this->is_training() && num_batches_tracked.defined();
  if (tracks) num_batches_tracked.add_(1);
  double momentum = options.momentum().value_or(0);
  if (tracks && !options.momentum()) momentum = 1 / num_batches_tracked.template item<double>();
  return functional::batch_norm(input, running_mean, running_var,
                                functional::BatchNormFuncOptions()
                                    .weight(weight)
                                    .bias(bias)
                                    .training(this->is_training() || !options.track_running_stats())
                                    .momentum(momentum)
                                    .eps(options.eps()));
}

template class BatchNormImplBase<1, BatchNorm1dImpl>;
template class BatchNormImplBase<2, BatchNorm2dImpl>;

// ---- LayerNorm

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) {
  LayerNormImpl::reset();
}

void LayerNormImpl::reset() {
  register_affine(*this, options.normalized_shape(), options.elementwise_affine());
  reset_parameters();
}

void LayerNormImpl::reset_parameters() { reset_affine(*this); }

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << str("LayerNorm(", IntArrayRef(options.normalized_shape()), ", eps=", options.eps(),
                ", elementwise_affine=", options.elementwise_affine(), ")");
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return run_module(
      *this,
      [this](const Tensor& x) {
        return hearth::layer_norm(x, options.normalized_shape(), weight, bias, options.eps());
      },
      input);
}

// ---- GroupNorm

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_) : options(options_) {
  GroupNormImpl::reset();
}

void GroupNormImpl::reset() {
  HEARTH_CHECK(options.num_groups() > 0 && options.num_channels() % options.num_groups() == 0,
               "num_channels (", options.num_channels(), ") must be divisible by num_groups (",
               options.num_groups(), ")");
  register_affine(*this, options.num_channels(), options.affine());
  reset_parameters();
}

void GroupNormImpl::reset_parameters() { reset_affine(*this); }

void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << str("GroupNorm(", options.num_groups(), ", ", options.num_channels(),
                ", eps=", options.eps(), ", affine=", options.affine(), ")");
}

Tensor GroupNormImpl::forward(const Tensor& input) {
  return run_module(
      *this,
      [this](const Tensor& x) {
        return hearth::group_norm(x, options.num_groups(), weight, bias, options.eps());
      },
      input);
}

}  // namespace hearth::nn
