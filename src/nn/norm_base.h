#pragma once

#include "hearth/nn/init.h"
#include "hearth/nn/normalization.h"

// Definitions that the normalizations share.
namespace hearth::nn {

namespace detail {

/// Registers the weight and the bias of a normalization, undefined ones unless `affine`.
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

}  // namespace detail

template <size_t D, class Derived, class Options>
NormImplBase<D, Derived, Options>::NormImplBase(const Options& options_) : options(options_) {
  NormImplBase::reset();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset() {
  detail::register_affine(*this, options.num_features(), options.affine());
  const bool tracks = options.track_running_stats();
  const int64_t n = options.num_features();
  running_mean = this->register_buffer("running_mean", tracks ? zeros(n) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones(n) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_parameters() {
  reset_running_stats();
  detail::reset_affine(*this);
}

}  // namespace hearth::nn
