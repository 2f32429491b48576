#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/nn/stateless.h"

// Activations, applied to tensors of any shape. In formulas, x is the input.
namespace hearth::nn {

/// Options of ReLU.
struct HEARTH_API ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  HEARTH_ARG(bool, inplace);  ///< whether the result replaces the input
};
/// Options of LeakyReLU.
struct HEARTH_API LeakyReLUOptions {
  HEARTH_ARG(double, negative_slope) = 1e-2;  ///< slope for x < 0
  HEARTH_ARG(bool, inplace) = false;          ///< whether the result replaces the input
};
/// Options of ELU.
struct HEARTH_API ELUOptions {
  HEARTH_ARG(double, alpha) = 1.0;    ///< -alpha is the limit for x to -infinity
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
/// Options of GELU.
struct HEARTH_API GELUOptions {
  HEARTH_ARG(std::string, approximate) = "none";  ///< "none" or "tanh"
};
/// Options of Softplus.
struct HEARTH_API SoftplusOptions {
  HEARTH_ARG(double, beta) = 1.0;        ///< steepness of the bend at 0
  HEARTH_ARG(double, threshold) = 20.0;  ///< the result is x where beta x > threshold
};
/// Options of Hardswish.
struct HEARTH_API HardswishOptions {
  HardswishOptions(bool inplace = false) : inplace_(inplace) {}
  HEARTH_ARG(bool, inplace);  ///< whether the result replaces the input
};
/// Options of Hardtanh.
struct HEARTH_API HardtanhOptions {
  HEARTH_ARG(double, min_val) = -1.0;  ///< the smallest result
  HEARTH_ARG(double, max_val) = 1.0;   ///< the largest result
  HEARTH_ARG(bool, inplace) = false;   ///< whether the result replaces the input
};
/// Options of Softmax and LogSoftmax.
struct HEARTH_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);  ///< the dimension along which softmax's results sum to 1
};
using LogSoftmaxOptions = SoftmaxOptions;  ///< options of LogSoftmax

/// max(x, 0).
HEARTH_STATELESS_MODULE(ReLU, ReLUOptions, Tensor);
/// x if x > 0, else negative_slope x.
HEARTH_STATELESS_MODULE(LeakyReLU, LeakyReLUOptions, Tensor);
/// x if x > 0, else alpha (exp(x) - 1).
HEARTH_STATELESS_MODULE(ELU, ELUOptions, Tensor);
/// x P(X <= x) for a standard normal X, or its tanh approximation.
HEARTH_STATELESS_MODULE(GELU, GELUOptions, const Tensor&);
/// x sigmoid(x).
HEARTH_STATELESS_MODULE(SiLU, detail::NoOptions, const Tensor&);
/// 1 / (1 + exp(-x)).
HEARTH_STATELESS_MODULE(Sigmoid, detail::NoOptions, const Tensor&);
/// tanh(x).
HEARTH_STATELESS_MODULE(Tanh, detail::NoOptions, const Tensor&);
/// log(1 + exp(beta x)) / beta.
HEARTH_STATELESS_MODULE(Softplus, SoftplusOptions, const Tensor&);
/// x min(max(x + 3, 0), 6) / 6.
HEARTH_STATELESS_MODULE(Hardswish, HardswishOptions, Tensor);
/// min(max(x, min_val), max_val).
HEARTH_STATELESS_MODULE(Hardtanh, HardtanhOptions, Tensor);
/// exp(x) / sum of exp(x) along dim.
HEARTH_STATELESS_MODULE(Softmax, SoftmaxOptions, const Tensor&);
/// log(softmax(x)) along dim.
HEARTH_STATELESS_MODULE(LogSoftmax, LogSoftmaxOptions, const Tensor&);

namespace functional {

using ReLUFuncOptions = ReLUOptions;            ///< options of relu
using LeakyReLUFuncOptions = LeakyReLUOptions;  ///< options of leaky_relu
using ELUFuncOptions = ELUOptions;              ///< options of elu
using GELUFuncOptions = GELUOptions;            ///< options of gelu
using SoftplusFuncOptions = SoftplusOptions;    ///< options of softplus
using HardswishFuncOptions = HardswishOptions;  ///< options of hardswish
using HardtanhFuncOptions = HardtanhOptions;    ///< options of hardtanh
/// Options of softmax and log_softmax.
struct HEARTH_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);  ///< the dimension along which softmax's results sum to 1
  HEARTH_ARG(std::optional<ScalarType>, dtype);  ///< converts the input first
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;  ///< options of log_softmax

// The modules of the same names as functions.
HEARTH_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});  ///< max(x, 0)
/// As LeakyReLU.
HEARTH_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
HEARTH_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});           ///< as ELU
HEARTH_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});  ///< as GELU
HEARTH_API Tensor silu(const Tensor& input);                                       ///< x sigmoid(x)
/// As Softplus.
HEARTH_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
/// As Hardswish.
HEARTH_API Tensor hardswish(Tensor input, const HardswishFuncOptions& options = {});
HEARTH_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});  ///< as Hardtanh
HEARTH_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);  ///< as Softmax
/// As LogSoftmax.
HEARTH_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);

}  // namespace functional

}  // namespace hearth::nn
