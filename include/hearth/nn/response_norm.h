#pragma once

#include <cstdint>

#include "hearth/nn/stateless.h"

// Normalization across neighbouring channels.
namespace hearth::nn {

/// Options of LocalResponseNorm.
struct HEARTH_API LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size) : size_(size) {}
  HEARTH_ARG(int64_t, size);         ///< the number of neighbouring channels
  HEARTH_ARG(double, alpha) = 1e-4;  ///< factor of the mean square
  HEARTH_ARG(double, beta) = 0.75;   ///< exponent of the divisor
  HEARTH_ARG(double, k) = 1.;        ///< added to alpha * the mean square
};
/// Options of CrossMapLRN2d.
struct HEARTH_API CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}
  HEARTH_ARG(int64_t, size);         ///< the number of neighbouring channels
  HEARTH_ARG(double, alpha) = 1e-4;  ///< factor of the mean square
  HEARTH_ARG(double, beta) = 0.75;   ///< exponent of the divisor
  HEARTH_ARG(int64_t, k) = 1;        ///< added to alpha * the mean square
};

/// input / (k + alpha * mean)^beta of [N, C, …], where `mean` is the mean square over `size`
/// channels around the element's channel; channels out of range count as 0.
HEARTH_STATELESS_MODULE(LocalResponseNorm, LocalResponseNormOptions, const Tensor&);
/// LocalResponseNorm of [N, C, H, W] with (size - 1) / 2 channels on each side; as in PyTorch,
/// windows that do not reach channel 0 include it, too.
HEARTH_STATELESS_MODULE(CrossMapLRN2d, CrossMapLRN2dOptions, const Tensor&);

namespace functional {
using LocalResponseNormFuncOptions = LocalResponseNormOptions;  ///< options of local_response_norm
/// As LocalResponseNorm.
HEARTH_API Tensor local_response_norm(const Tensor& input,
                                      const LocalResponseNormFuncOptions& options);
}  // namespace functional

}  // namespace hearth::nn
