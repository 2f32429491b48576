#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/nn/stateless.h"

// Activations. In formulas, x is the input.
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
  HEARTH_ARG(double, alpha) = 1.0;    ///< the result tends to -alpha for x to -infinity
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
/// Options of GELU.
struct HEARTH_API GELUOptions {
  HEARTH_ARG(std::string, approximate) = "none";  ///< "none" or "tanh"
};
/// Options of Softplus.
struct HEARTH_API SoftplusOptions {
  HEARTH_ARG(double, beta) = 1.0;        ///< steepness of the bend at 0
  HEARTH_ARG(double, threshold) = 20.0;  ///< the result is x where beta * x > threshold
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
/// Options of Softmax, LogSoftmax and Softmin.
struct HEARTH_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);  ///< the dimension along which softmax's results sum to 1
};
using LogSoftmaxOptions = SoftmaxOptions;  ///< options of LogSoftmax
using SoftminOptions = SoftmaxOptions;     ///< options of Softmin
using ReLU6Options = ReLUOptions;          ///< options of ReLU6
using SELUOptions = ReLUOptions;           ///< options of SELU
using CELUOptions = ELUOptions;            ///< options of CELU
using HardsigmoidOptions = ReLUOptions;    ///< options of Hardsigmoid
/// Options of GLU.
struct HEARTH_API GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);  ///< the dimension whose size is halved
};
/// Options of Hardshrink and Softshrink.
struct HEARTH_API HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  HEARTH_ARG(double, lambda);  ///< the result is 0 where |x| <= lambda
};
using SoftshrinkOptions = HardshrinkOptions;  ///< options of Softshrink
/// Options of Threshold.
struct HEARTH_API ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  HEARTH_ARG(double, threshold);      ///< the largest x that is replaced
  HEARTH_ARG(double, value);          ///< the replacement
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
/// Options of PReLU.
struct HEARTH_API PReLUOptions {
  HEARTH_ARG(int64_t, num_parameters) = 1;  ///< 1, or the number of channels (dimension 1)
  HEARTH_ARG(double, init) = 0.25;          ///< the slopes' initial value
};
/// Options of RReLU.
struct HEARTH_API RReLUOptions {
  HEARTH_ARG(double, lower) = 1.0 / 8;  ///< the least slope for x < 0
  HEARTH_ARG(double, upper) = 1.0 / 3;  ///< the greatest slope for x < 0
  HEARTH_ARG(bool, inplace) = false;    ///< whether the result replaces the input
};

/// max(x, 0).
HEARTH_STATELESS_MODULE(ReLU, ReLUOptions, Tensor);
/// x if x > 0, else negative_slope * x.
HEARTH_STATELESS_MODULE(LeakyReLU, LeakyReLUOptions, Tensor);
/// x if x > 0, else alpha * (exp(x) - 1).
HEARTH_STATELESS_MODULE(ELU, ELUOptions, Tensor);
/// x * P(X <= x) for a standard normal X, or the tanh approximation.
HEARTH_STATELESS_MODULE(GELU, GELUOptions, const Tensor&);
/// x * sigmoid(x).
HEARTH_STATELESS_MODULE(SiLU, detail::NoOptions, const Tensor&);
/// 1 / (1 + exp(-x)).
HEARTH_STATELESS_MODULE(Sigmoid, detail::NoOptions, const Tensor&);
/// tanh(x).
HEARTH_STATELESS_MODULE(Tanh, detail::NoOptions, const Tensor&);
/// log(1 + exp(beta * x)) / beta.
HEARTH_STATELESS_MODULE(Softplus, SoftplusOptions, const Tensor&);
/// x * min(max(x + 3, 0), 6) / 6.
HEARTH_STATELESS_MODULE(Hardswish, HardswishOptions, Tensor);
/// min(max(x, min_val), max_val).
class HEARTH_API HardtanhImpl : public detail::Stateless<HardtanhImpl, HardtanhOptions> {
 public:
  HardtanhImpl(const HardtanhOptions& options_ = {});
  void reset() override;  ///< checks that min_val < max_val
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Hardtanh);
/// exp(x) / sum(exp(x)) along dim.
HEARTH_STATELESS_MODULE(Softmax, SoftmaxOptions, const Tensor&);
/// log(softmax(x)) along dim.
HEARTH_STATELESS_MODULE(LogSoftmax, LogSoftmaxOptions, const Tensor&);
/// softmax(-x) along dim.
HEARTH_STATELESS_MODULE(Softmin, SoftminOptions, const Tensor&);
/// softmax over the channels of [N, C, H, W] or [C, H, W].
HEARTH_STATELESS_MODULE(Softmax2d, detail::NoOptions, const Tensor&);
/// min(max(x, 0), 6).
HEARTH_STATELESS_MODULE(ReLU6, ReLU6Options, Tensor);
/// ELU with the alpha and scale that keep a mean of 0 and a variance of 1.
HEARTH_STATELESS_MODULE(SELU, SELUOptions, Tensor);
/// x if x > 0, else alpha * (exp(x / alpha) - 1).
HEARTH_STATELESS_MODULE(CELU, CELUOptions, Tensor);
/// a * sigmoid(b), where a and b are the halves of x along dim.
HEARTH_STATELESS_MODULE(GLU, GLUOptions, const Tensor&);
/// x * tanh(log(1 + exp(x))).
HEARTH_STATELESS_MODULE(Mish, detail::NoOptions, const Tensor&);
/// log(sigmoid(x)).
HEARTH_STATELESS_MODULE(LogSigmoid, detail::NoOptions, const Tensor&);
/// x / (1 + |x|).
HEARTH_STATELESS_MODULE(Softsign, detail::NoOptions, const Tensor&);
/// x - tanh(x).
HEARTH_STATELESS_MODULE(Tanhshrink, detail::NoOptions, const Tensor&);
/// 0 if |x| <= lambda, else x.
HEARTH_STATELESS_MODULE(Hardshrink, HardshrinkOptions, const Tensor&);
/// x moved towards 0 by lambda; 0 if |x| <= lambda.
HEARTH_STATELESS_MODULE(Softshrink, SoftshrinkOptions, const Tensor&);
/// min(max(x + 3, 0), 6) / 6.
HEARTH_STATELESS_MODULE(Hardsigmoid, HardsigmoidOptions, Tensor);
/// x if x > 0, else slope * x. In training mode, the slope of each element is drawn from [lower,
/// upper); in evaluation mode, it is (lower + upper) / 2.
HEARTH_STATELESS_MODULE(RReLU, RReLUOptions, Tensor);

/// x if x > threshold, else value.
class HEARTH_API ThresholdImpl : public detail::Stateless<ThresholdImpl, ThresholdOptions> {
 public:
  using detail::Stateless<ThresholdImpl, ThresholdOptions>::Stateless;
  ThresholdImpl(double threshold, double value);
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Threshold);

/// x if x > 0, else weight * x; the trained weight has one element, or one per channel (dimension
/// 1).
class HEARTH_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  PReLUOptions options;
  Tensor weight;  ///< [num_parameters]
};
HEARTH_MODULE(PReLU);

namespace functional {

using ReLUFuncOptions = ReLUOptions;            ///< options of relu
using LeakyReLUFuncOptions = LeakyReLUOptions;  ///< options of leaky_relu
using ELUFuncOptions = ELUOptions;              ///< options of elu
using GELUFuncOptions = GELUOptions;            ///< options of gelu
using SoftplusFuncOptions = SoftplusOptions;    ///< options of softplus
using HardswishFuncOptions = HardswishOptions;  ///< options of hardswish
using HardtanhFuncOptions = HardtanhOptions;    ///< options of hardtanh
/// Options of softmax, log_softmax and softmin.
struct HEARTH_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  HEARTH_ARG(int64_t, dim);  ///< the dimension along which softmax's results sum to 1
  HEARTH_ARG(std::optional<ScalarType>, dtype);  ///< converts the input first
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;   ///< options of log_softmax
using SoftminFuncOptions = SoftmaxFuncOptions;      ///< options of softmin
using ReLU6FuncOptions = ReLU6Options;              ///< options of relu6
using SELUFuncOptions = SELUOptions;                ///< options of selu
using CELUFuncOptions = CELUOptions;                ///< options of celu
using GLUFuncOptions = GLUOptions;                  ///< options of glu
using HardshrinkFuncOptions = HardshrinkOptions;    ///< options of hardshrink
using SoftshrinkFuncOptions = SoftshrinkOptions;    ///< options of softshrink
using HardsigmoidFuncOptions = HardsigmoidOptions;  ///< options of hardsigmoid
using ThresholdFuncOptions = ThresholdOptions;      ///< options of threshold
/// Options of rrelu, as in RReLUOptions.
struct HEARTH_API RReLUFuncOptions {
  HEARTH_ARG(double, lower) = 1.0 / 8;  ///< the least slope for x < 0
  HEARTH_ARG(double, upper) = 1.0 / 3;  ///< the greatest slope for x < 0
  HEARTH_ARG(bool, training) = false;   ///< whether slopes are drawn
  HEARTH_ARG(bool, inplace) = false;    ///< whether the result replaces the input
};
/// Options of gumbel_softmax.
struct HEARTH_API GumbelSoftmaxFuncOptions {
  HEARTH_ARG(double, tau) = 1.0;   ///< temperature: the smaller, the closer to one-hot vectors
  HEARTH_ARG(bool, hard) = false;  ///< one-hot vectors, with the gradient of the soft result
  HEARTH_ARG(int, dim) = -1;       ///< the dimension along which results sum to 1
};

// Modules above as functions, and gumbel_softmax.
HEARTH_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});  ///< max(x, 0)
/// As LeakyReLU.
HEARTH_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
HEARTH_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});           ///< as ELU
HEARTH_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});  ///< as GELU
HEARTH_API Tensor silu(const Tensor& input);                                       ///< as SiLU
/// As Softplus.
HEARTH_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
/// As Hardswish.
HEARTH_API Tensor hardswish(Tensor input, const HardswishFuncOptions& options = {});
HEARTH_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});  ///< as Hardtanh
HEARTH_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);  ///< as Softmax
/// As LogSoftmax.
HEARTH_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
HEARTH_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);  ///< as Softmin
HEARTH_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});        ///< as ReLU6
HEARTH_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});          ///< as SELU
HEARTH_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});          ///< as CELU
HEARTH_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});     ///< as GLU
HEARTH_API Tensor mish(const Tensor& input);                                        ///< as Mish
HEARTH_API Tensor logsigmoid(const Tensor& input);  ///< log(sigmoid(x))
HEARTH_API Tensor softsign(const Tensor& input);    ///< x / (1 + |x|)
HEARTH_API Tensor tanhshrink(const Tensor& input);  ///< x - tanh(x)
/// As Hardshrink.
HEARTH_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
/// As Softshrink.
HEARTH_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
/// As Hardsigmoid.
HEARTH_API Tensor hardsigmoid(Tensor input, const HardsigmoidFuncOptions& options = {});
HEARTH_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);  ///< as Threshold
HEARTH_API Tensor prelu(const Tensor& input, const Tensor& weight);              ///< as PReLU
HEARTH_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});     ///< as RReLU
/// softmax((logits + g) / tau), where g is drawn from the Gumbel distribution for each element:
/// random vectors close to one-hot vectors, whose class has the probability softmax(logits).
HEARTH_API Tensor gumbel_softmax(const Tensor& logits,
                                 const GumbelSoftmaxFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
