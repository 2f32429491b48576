#pragma once

#include "hearth/nn/normalization.h"

namespace hearth::nn {

/// Options of InstanceNorm1d, InstanceNorm2d and InstanceNorm3d.
struct HEARTH_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}
  HEARTH_ARG(int64_t, num_features);              ///< the number of channels
  HEARTH_ARG(double, eps) = 1e-5;                 ///< added to the variance
  HEARTH_ARG(double, momentum) = 0.1;             ///< weight of a batch in the running statistics
  HEARTH_ARG(bool, affine) = false;               ///< whether weight and bias exist
  HEARTH_ARG(bool, track_running_stats) = false;  ///< whether running statistics exist
};
using InstanceNorm1dOptions = InstanceNormOptions;  ///< options of InstanceNorm1d
using InstanceNorm2dOptions = InstanceNormOptions;  ///< options of InstanceNorm2d
using InstanceNorm3dOptions = InstanceNormOptions;  ///< options of InstanceNorm3d

/// Base of instance normalization: (input - mean) / sqrt(var + eps) * weight + bias, with mean and
/// variance of each channel of each sample or, in evaluation mode, the running statistics, if any.
template <size_t D, class Derived>
class HEARTH_API InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

 private:
  Tensor normalize(const Tensor& input);
};

#define HEARTH_INSTANCE_NORM(D)                                                                  \
  class HEARTH_API InstanceNorm##D##dImpl : public InstanceNormImpl<D, InstanceNorm##D##dImpl> { \
   public:                                                                                       \
    using InstanceNormImpl<D, InstanceNorm##D##dImpl>::InstanceNormImpl;                         \
  };                                                                                             \
  extern template class NormImplBase<D, InstanceNorm##D##dImpl, InstanceNormOptions>;            \
  extern template class InstanceNormImpl<D, InstanceNorm##D##dImpl>;                             \
  HEARTH_MODULE(InstanceNorm##D##d)

/// Instance normalization of [N, C, L] or [C, L].
HEARTH_INSTANCE_NORM(1);
/// Instance normalization of [N, C, H, W] or [C, H, W].
HEARTH_INSTANCE_NORM(2);
/// Instance normalization of [N, C, D, H, W] or [C, D, H, W].
HEARTH_INSTANCE_NORM(3);
#undef HEARTH_INSTANCE_NORM

namespace functional {

/// Options of instance_norm, as in InstanceNormOptions.
struct HEARTH_API InstanceNormFuncOptions {
  HEARTH_ARG(Tensor, running_mean);          ///< [C], or undefined
  HEARTH_ARG(Tensor, running_var);           ///< [C], or undefined
  HEARTH_ARG(Tensor, weight);                ///< a factor, or undefined
  HEARTH_ARG(Tensor, bias);                  ///< a summand, or undefined
  HEARTH_ARG(bool, use_input_stats) = true;  ///< if false, uses the running statistics
  HEARTH_ARG(double, momentum) = 0.1;        ///< weight of a batch in the running statistics
  HEARTH_ARG(double, eps) = 1e-5;            ///< added to the variance
};

/// As InstanceNorm, for any number of dimensions after the channels.
HEARTH_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
