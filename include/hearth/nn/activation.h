#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/nn/stateless.h"

// Activations: what each computes is said at the operator of the same name.

namespace hearth::nn {

struct HEARTH_API ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  HEARTH_ARG(bool, inplace);
};
struct HEARTH_API LeakyReLUOptions {
  HEARTH_ARG(double, negative_slope) = 1e-2;
  HEARTH_ARG(bool, inplace) = false;
};
struct HEARTH_API ELUOptions {
  HEARTH_ARG(double, alpha) = 1.0;
  HEARTH_ARG(bool, inplace) = false;
};
struct HEARTH_API GELUOptions {
  /// "none" or "tanh".
  HEARTH_ARG(std::string, approximate) = "none";
};
struct HEARTH_API SoftplusOptions {
  HEARTH_ARG(double, beta) = 1.0;
  HEARTH_ARG(double, threshold) = 20.0;
};
struct HEARTH_API HardswishOptions {
  HardswishOptions(bool inplace = false) : inplace_(inplace) {}
  HEARTH_ARG(bool, inplace);
};
struct HEARTH_API HardtanhOptions {
  HEARTH_ARG(double, min_val) = -1.0;
  HEARTH_ARG(double, max_val) = 1.0;
  HEARTH_ARG(bool, inplace) = false;
};
struct HEARTH_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);
};
using LogSoftmaxOptions = SoftmaxOptions;

HEARTH_STATELESS_MODULE(ReLU, ReLUOptions, Tensor);
HEARTH_STATELESS_MODULE(LeakyReLU, LeakyReLUOptions, Tensor);
HEARTH_STATELESS_MODULE(ELU, ELUOptions, Tensor);
HEARTH_STATELESS_MODULE(GELU, GELUOptions, const Tensor&);
HEARTH_STATELESS_MODULE(SiLU, detail::NoOptions, const Tensor&);
HEARTH_STATELESS_MODULE(Sigmoid, detail::NoOptions, const Tensor&);
HEARTH_STATELESS_MODULE(Tanh, detail::NoOptions, const Tensor&);
HEARTH_STATELESS_MODULE(Softplus, SoftplusOptions, const Tensor&);
HEARTH_STATELESS_MODULE(Hardswish, HardswishOptions, Tensor);
HEARTH_STATELESS_MODULE(Hardtanh, HardtanhOptions, Tensor);
HEARTH_STATELESS_MODULE(Softmax, SoftmaxOptions, const Tensor&);
HEARTH_STATELESS_MODULE(LogSoftmax, LogSoftmaxOptions, const Tensor&);

namespace functional {

using ReLUFuncOptions = ReLUOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ELUFuncOptions = ELUOptions;
using GELUFuncOptions = GELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using HardswishFuncOptions = HardswishOptions;
using HardtanhFuncOptions = HardtanhOptions;
struct HEARTH_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);
  /// What the input is converted to first.
  HEARTH_ARG(std::optional<ScalarType>, dtype);
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;

HEARTH_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
HEARTH_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
HEARTH_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
HEARTH_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
HEARTH_API Tensor silu(const Tensor& input);
HEARTH_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
HEARTH_API Tensor hardswish(Tensor input, const HardswishFuncOptions& options = {});
HEARTH_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
HEARTH_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
HEARTH_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);

}  // namespace functional

}  // namespace hearth::nn
