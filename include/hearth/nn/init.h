#pragma once

#include <cstdint>
#include <tuple>
#include <variant>

#include "hearth/nn/enum.h"
#include "hearth/tensor.h"

/// Ways to fill a tensor before training; each writes into its argument, without history, and
/// returns it.
namespace hearth::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                 enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                 enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// The factor that keeps the variance through a nonlinearity; param is LeakyReLU's slope.
HEARTH_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

HEARTH_API Tensor constant_(Tensor tensor, const Scalar& value);
HEARTH_API Tensor zeros_(Tensor tensor);
HEARTH_API Tensor ones_(Tensor tensor);
/// The identity matrix.
HEARTH_API Tensor eye_(Tensor matrix);
/// The weight of a convolution that passes its input on, as many channels as there are.
HEARTH_API Tensor dirac_(Tensor tensor);
HEARTH_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
HEARTH_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
/// A (semi-)orthogonal matrix, the dimensions after the first taken as one.
HEARTH_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
/// Normal with mean 0, and the fraction `sparsity` of each column zero.
HEARTH_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
/// Variance gain^2 / fan (He et al.); a is the slope of LeakyReLU, the default nonlinearity.
HEARTH_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                  NonlinearityType nonlinearity = kLeakyReLU);
HEARTH_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                   NonlinearityType nonlinearity = kLeakyReLU);
/// Variance gain^2 * 2 / (fan_in + fan_out) (Glorot and Bengio).
HEARTH_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
HEARTH_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);

/// How many inputs an output of this weight sees, and how many outputs an input.
HEARTH_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace hearth::nn::init
