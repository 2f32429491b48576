#pragma once

#include <cstdint>
#include <tuple>
#include <variant>

#include "hearth/nn/enum.h"
#include "hearth/tensor.h"

/// Initialization of parameters: the functions whose names end with _ fill their argument without
/// recording, and return it.
namespace hearth::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                 enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                 enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU>;
/// The pass in which variances are preserved: forward (kFanIn) or backward (kFanOut).
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// The factor that preserves the variance across a nonlinearity; param is LeakyReLU's slope.
HEARTH_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

HEARTH_API Tensor constant_(Tensor tensor, const Scalar& value);  ///< fills with `value`
HEARTH_API Tensor zeros_(Tensor tensor);                          ///< fills with 0
HEARTH_API Tensor ones_(Tensor tensor);                           ///< fills with 1
HEARTH_API Tensor eye_(Tensor matrix);  ///< fills with the identity matrix
/// Fills a convolution's weight so that it copies as many input channels as possible.
HEARTH_API Tensor dirac_(Tensor tensor);
HEARTH_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);   ///< N(mean, std^2)
HEARTH_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);  ///< U[low, high)
/// Fills from N(mean, std^2) truncated to [a, b].
HEARTH_API Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2,
                                double b = 2);
/// Fills with gain times a (semi-)orthogonal matrix; the dimensions after the first count as one.
HEARTH_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
/// Fills a matrix from N(0, std^2) and zeroes the fraction `sparsity` of each column.
HEARTH_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
/// Fills from a normal distribution of variance gain^2 / fan (He et al.); a is LeakyReLU's slope.
/// The defaults are kFanIn and kLeakyReLU. (Overloads, because default arguments make every program
/// instantiate the variants.)
HEARTH_API Tensor kaiming_normal_(Tensor tensor, double a = 0);
HEARTH_API Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode);
HEARTH_API Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode,
                                  NonlinearityType nonlinearity);
/// kaiming_normal_ with a uniform distribution.
HEARTH_API Tensor kaiming_uniform_(Tensor tensor, double a = 0);
HEARTH_API Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode);
HEARTH_API Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode,
                                   NonlinearityType nonlinearity);
/// Fills from a normal distribution of variance 2 * gain^2 / (fan_in + fan_out) (Glorot and
/// Bengio).
HEARTH_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
HEARTH_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);  ///< the same, uniform

/// (fan_in, fan_out) of a weight: the numbers of inputs per output and of outputs per input.
HEARTH_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace hearth::nn::init
