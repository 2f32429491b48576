#include "functors/activation.h"

#include "ops/define.h"
#include "ops/pointwise_named.h"
#include "ops/saturate.h"

namespace hearth {

namespace {

bool is_tanh(std::string_view approximate) {
  HEARTH_CHECK(approximate == "none" || approximate == "tanh",
               "approximate argument must be either none or tanh.");
  return approximate == "tanh";
}

const Tensor& check_not_bool(const Tensor& self, const char* message) {
  HEARTH_CHECK_AS(NotImplementedError, self.scalar_type() != kBool, message);
  return self;
}

/// Selu's parameters, for which selu maps mean 0 and variance 1 to mean 0 and variance 1.
constexpr fn::Elu kSelu{1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1};

constexpr OpInfo kCelu = with_node(fn::Elu::info, "Celu");

fn::Elu celu_of(const Scalar& alpha) {
  HEARTH_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return {alpha.toDouble(), 1, 1 / alpha.toDouble()};
}

fn::Hardtanh hardtanh_of(const Tensor& self, const Scalar& min, const Scalar& max) {
  check_not_bool(self, "Bool inputs not supported for hardtanh");
  fn::Hardtanh result{factor_of(min), factor_of(max)};
  if (is_integral(self.scalar_type(), false)) {
    const IntegerRange range(self.scalar_type());
    for (Factor* limit : {&result.min_val, &result.max_val})
      limit->integer = range.nearest(limit->integer);
  }
  return result;
}

/// Rounds a parameter to self's dtype, so that elements of the same value compare equal.
double rounded(const Scalar& parameter, const Tensor& self) {
  const ScalarType type = self.scalar_type();
  return (is_floating_point(type) ? parameter.stored_as(type) : parameter).toDouble();
}

/// Checks softshrink's parameter and rounds it to self's dtype.
double shrinkage(const Scalar& lambd, const Tensor& self) {
  const ScalarType type = self.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, is_floating_point(type),
                  "\"softshrink\" not implemented for '", name_of(type), "'");
  const double value = lambd.toDouble(), largest = largest_number(type);
  HEARTH_CHECK(value >= 0 && value <= largest, "lambda must be in range [0, ", largest,
               "] for input dtype ", name_of(type), ", but found ", value);
  return rounded(lambd, self);
}

/// Reshapes prelu's weight to broadcast along self's channels.
Tensor weight_for(const Tensor& self, const Tensor& weight) {
  check_defined("prelu", 1, "weight", weight);
  HEARTH_CHECK(self.scalar_type() == weight.scalar_type(),
               "prelu: Type promoting not supported. Got ", name_of(self.scalar_type()), " and ",
               name_of(weight.scalar_type()));
  const int64_t num_parameters = weight.numel();
  if (num_parameters != 1) {
    HEARTH_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    HEARTH_CHECK(channels == num_parameters,
                 "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
                 num_parameters, " and channel size = ", channels, ".");
  }
  HEARTH_CHECK(
      weight.dim() <= 1,
      "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  if (self.dim() == weight.dim()) return weight;
  Dims sizes(size_t(self.dim()), 1);
  if (self.dim() > 1) sizes[1] = num_parameters;
  return weight.reshape(sizes);
}

struct PreluOp {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "prelu",
                               .arguments = "self,weight",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kLower,
                               .amp_cpu = Amp::kLower};
  static Tensor compute(const Args&, const Tensor& self, const Tensor& weight) {
    const Tensor aligned = weight_for(self, weight);
    return pointwise(fn::Prelu{}, self, aligned).call();
  }
};

}  // namespace

HEARTH_DEFINE_ALL_FORMS(gelu, (std::string_view approximate),
                        pick(is_tanh(approximate), pointwise(fn::GeluTanh{}, self),
                             pointwise(fn::Gelu{}, self)))
HEARTH_DEFINE_ALL_FORMS(sigmoid, (), pointwise(fn::Sigmoid{}, self))
HEARTH_DEFINE_ALL_FORMS(relu, (),
                        pointwise(fn::Relu{},
                                  check_not_bool(self, "Boolean inputs not supported for relu")))
HEARTH_DEFINE_ALL_FORMS(relu6, (),
                        pointwise(fn::Hardtanh{{0, 0}, {6, 6}},
                                  check_not_bool(self, "Bool inputs not supported for hardtanh")))
HEARTH_DEFINE_ALL_FORMS(silu, (), pointwise(fn::Silu{}, self))
HEARTH_DEFINE_ALL_FORMS(
    elu, (const Scalar& alpha, const Scalar& scale, const Scalar& input_scale),
    pointwise(fn::Elu{alpha.toDouble(), scale.toDouble(), input_scale.toDouble()}, self))
HEARTH_DEFINE_ALL_FORMS(selu, (), pointwise(kSelu, self))
HEARTH_DEFINE_ALL_FORMS(celu, (const Scalar& alpha), pointwise_as<kCelu>(celu_of(alpha), self))
HEARTH_DEFINE_ALL_FORMS(leaky_relu, (const Scalar& negative_slope),
                        pointwise(fn::LeakyRelu{negative_slope.toDouble()}, self))
HEARTH_DEFINE_OUT(softplus, (const Scalar& beta, const Scalar& threshold),
                  pointwise(fn::Softplus{beta.toDouble(), threshold.toDouble()}, self))
HEARTH_DEFINE_OUT(log_sigmoid, (), pointwise(fn::LogSigmoid{}, self))
HEARTH_DEFINE_ALL_FORMS(hardsigmoid, (), pointwise(fn::Hardsigmoid{}, self))
HEARTH_DEFINE_ALL_FORMS(hardswish, (), pointwise(fn::Hardswish{}, self))
HEARTH_DEFINE_ALL_FORMS(hardtanh, (const Scalar& min_val, const Scalar& max_val),
                        pointwise(hardtanh_of(self, min_val, max_val), self))
HEARTH_DEFINE_ALL_FORMS(mish, (), pointwise(fn::Mish{}, self))
HEARTH_DEFINE_ALL_FORMS(threshold, (const Scalar& threshold, const Scalar& value),
                        pointwise(fn::Threshold{factor_of(threshold), factor_of(value)}, self))
HEARTH_DEFINE_OUT(hardshrink, (const Scalar& lambd),
                  pointwise(fn::Hardshrink{rounded(lambd, self)}, self))
HEARTH_DEFINE_OUT(softshrink, (const Scalar& lambd),
                  pointwise(fn::Softshrink{shrinkage(lambd, self)}, self))
HEARTH_DEFINE_METHOD(Tensor, prelu, (const Tensor& weight), compose<PreluOp>({}, self, weight))
HEARTH_DEFINE_METHOD_ONLY(Tensor, softsign, (), pointwise(fn::Softsign{}, self).call())
HEARTH_DEFINE_METHOD_ONLY(Tensor&, softsign_, (), pointwise(fn::Softsign{}, self).inplace(self))

namespace by_name {

Tensor softsign(const Tensor& self) { return self.softsign(); }
Tensor& softsign_(Tensor& self) { return self.softsign_(); }
Tensor& softsign_out(Tensor& out, const Tensor& self) {
  return pointwise(fn::Softsign{}, self).out(out);
}

}  // namespace by_name

}  // namespace hearth
