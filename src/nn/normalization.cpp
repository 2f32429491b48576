#include "hearth/nn/normalization.h"

#include <ostream>

#include "hearth/nn/sync_batch_norm.h"
#include "hearth/operators.h"
#include "nn/batch_norm_call.h"

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

namespace {
/// Throws if each channel has only one value, and so no variance.
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

Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options) {
  return hearth::rms_norm(input, options.normalized_shape(), options.weight(), options.eps());
}

Tensor normalize(const Tensor& input, NormalizeFuncOptions options) {
  const Tensor divisor =
      input.norm(options.p(), {options.dim()}, /*keepdim=*/true).clamp_min(options.eps());
  return options.out() ? hearth::div_out(*options.out(), input, divisor) : input / divisor;
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return hearth::group_norm(input, options.num_groups(), options.weight(), options.bias(),
                            options.eps());
}

}  // namespace functional

using detail::register_affine;
using detail::reset_affine;

// ---- BatchNorm

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  const std::string name = is_synchronized_ ? "SyncBatchNorm" : str("BatchNorm", D, "d");
  detail::print_batch_norm(stream, name, this->options);
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::synchronize(std::shared_ptr<distributed::ProcessGroup> group) {
  is_synchronized_ = true;
  group_ = std::move(group);
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
  Derived& self = static_cast<Derived&>(*this);
  const functional::BatchNormFuncOptions call_options = detail::begin_batch_norm(self);
  if (is_synchronized_ && this->is_training())
    return functional::sync_batch_norm(input, this->running_mean, this->running_var, call_options,
                                       group_);
  return functional::batch_norm(input, this->running_mean, this->running_var, call_options);
}

template class NormImplBase<1, BatchNorm1dImpl, BatchNormOptions>;
template class NormImplBase<2, BatchNorm2dImpl, BatchNormOptions>;
template class NormImplBase<3, BatchNorm3dImpl, BatchNormOptions>;
template class BatchNormImplBase<1, BatchNorm1dImpl>;
template class BatchNormImplBase<2, BatchNorm2dImpl>;
template class BatchNormImplBase<3, BatchNorm3dImpl>;

// ---- LayerNorm

LayerNormImpl::LayerNormImpl(std::vector<int64_t> normalized_shape)
    : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
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

// ---- RMSNorm

RMSNormImpl::RMSNormImpl(std::vector<int64_t> normalized_shape)
    : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
RMSNormImpl::RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) {
  RMSNormImpl::reset();
}

void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter(
      "weight", affine ? hearth::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}

void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}

void RMSNormImpl::pretty_print(std::ostream& stream) const {
  const auto eps = options.eps();
  stream << str("RMSNorm(", IntArrayRef(options.normalized_shape()),
                ", eps=", eps ? str(*eps) : "None",
                ", elementwise_affine=", options.elementwise_affine(), ")");
}

Tensor RMSNormImpl::forward(const Tensor& input) {
  return run_module(
      *this,
      [this](const Tensor& x) {
        return hearth::rms_norm(x, options.normalized_shape(), weight, options.eps());
      },
      input);
}

// ---- GroupNorm

GroupNormImpl::GroupNormImpl(int64_t num_groups, int64_t num_channels)
    : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
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
