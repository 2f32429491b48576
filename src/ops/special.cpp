// The functions of torch.special that are aliases, and lgamma, digamma, polygamma, mvlgamma,
// igamma, igammac, i0, sinc, logit and nextafter.
#include "seam/special.h"

#include "functors/math.h"
#include "hearth/operators.h"
#include "ops/composed_out.h"
#include "ops/special.h"

namespace hearth {

#define HEARTH_SPECIAL(name, function)                                 \
  Tensor special_##name(const Tensor& self) { return function(self); } \
  Tensor& special_##name##_out(Tensor& out, const Tensor& self) {      \
    return function##_out(out, self);                                  \
  }
HEARTH_SPECIAL(erf, erf)
HEARTH_SPECIAL(erfc, erfc)
HEARTH_SPECIAL(erfinv, erfinv)
HEARTH_SPECIAL(exp2, exp2)
HEARTH_SPECIAL(expm1, expm1)
HEARTH_SPECIAL(expit, sigmoid)
HEARTH_SPECIAL(log1p, log1p)
HEARTH_SPECIAL(gammaln, lgamma)
HEARTH_SPECIAL(digamma, digamma)
HEARTH_SPECIAL(psi, digamma)
HEARTH_SPECIAL(i0, i0)
HEARTH_SPECIAL(sinc, sinc)
#undef HEARTH_SPECIAL

#define HEARTH_SPECIAL(name, function, Other)                                              \
  Tensor special_##name(const Tensor& self, Other other) { return function(self, other); } \
  Tensor& special_##name##_out(Tensor& out, const Tensor& self, Other other) {             \
    return function##_out(out, self, other);                                               \
  }
HEARTH_SPECIAL(gammainc, igamma, const Tensor&)
HEARTH_SPECIAL(gammaincc, igammac, const Tensor&)
HEARTH_SPECIAL(multigammaln, mvlgamma, int64_t)
HEARTH_SPECIAL(logit, logit, std::optional<double>)
#undef HEARTH_SPECIAL

Tensor special_polygamma(int64_t n, const Tensor& self) { return polygamma(n, self); }
Tensor& special_polygamma_out(Tensor& out, int64_t n, const Tensor& self) {
  return polygamma_out(out, n, self);
}

Tensor special_round(const Tensor& self, int64_t decimals) { return round(self, decimals); }
Tensor& special_round_out(Tensor& out, const Tensor& self, int64_t decimals) {
  return round_out(out, self, decimals);
}

#define HEARTH_SPECIAL_XLOGY(Self, Other)                                                   \
  Tensor special_xlogy(const Self& self, const Other& other) { return xlogy(self, other); } \
  Tensor& special_xlogy_out(Tensor& out, const Self& self, const Other& other) {            \
    return xlogy_out(out, self, other);                                                     \
  }
HEARTH_SPECIAL_XLOGY(Tensor, Tensor)
HEARTH_SPECIAL_XLOGY(Tensor, Scalar)
HEARTH_SPECIAL_XLOGY(Scalar, Tensor)
#undef HEARTH_SPECIAL_XLOGY

Tensor special_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return logsumexp(self, dim, keepdim);
}
Tensor& special_logsumexp_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim) {
  return logsumexp_out(out, self, dim, keepdim);
}
Tensor special_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return softmax(self, dim, dtype);
}
Tensor special_log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return log_softmax(self, dim, dtype);
}

void launch_special(const OpRecord& op, const void*, LaunchContext& context) {
  const TensorImpl* in[2];
  for (int i = 0; i < context.inputs(); ++i) in[i] = &context.in_impl(i);
  SpecialParams params{
      fn::special_of(op.functor),
      pointwise_params(context.out_impl(), in, context.inputs(), context.compute_dtype)};
  round_numbers(params.loop, *op.info, context.out_impl().device);
  run_kernel(context.ctx, params);
}

namespace {

constexpr OpInfo nextafter_info(const char* overload) {
  return {.name = "nextafter", .overload = overload, .dtypes = dtypes::kFloating};
}

constexpr OpInfo kLgamma = special_info("lgamma", dtypes::kFloating),
                 kDigamma = special_info("digamma", dtypes::kFloating),
                 kPolygamma = special_info("polygamma", dtypes::kFloating),
                 kI0 = special_info("i0", dtypes::kFloating), kNextafter = nextafter_info(""),
                 kNextafterFloat = nextafter_info("float"), kNextafterHalf = nextafter_info("half"),
                 kNextafterBFloat16 = nextafter_info("bfloat16"),
                 kIgamma{.name = "igamma", .dtypes = dtypes::kFloating},
                 kIgammac{.name = "igammac", .dtypes = dtypes::kFloating};

/// Each dtype has a function of its own.
auto nextafter_of(const Tensor& self, const Tensor& other) {
  const ScalarType type = result_type(self, other);
  return pick(
      type == kFloat, special<kNextafterFloat, fn::Special::nextafter_float>(self, other),
      pick(type == kBFloat16,
           special<kNextafterBFloat16, fn::Special::nextafter_bfloat16>(self, other),
           pick(type == kHalf, special<kNextafterHalf, fn::Special::nextafter_half>(self, other),
                special<kNextafter, fn::Special::nextafter>(self, other))));
}

/// `number` is n as a tensor: the kernels of special functions take inputs, but no arguments.
auto polygamma_of(int64_t n, const Tensor& self, const Tensor& number) {
  HEARTH_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  return special<kPolygamma, fn::Special::polygamma>(self, number);
}

struct Mvlgamma {
  struct Args {
    int64_t p;
    HEARTH_FIELDS(p)
  };
  static constexpr OpInfo info{.name = "mvlgamma"};
  static Tensor compute(const Args& args, const Tensor& self) {
    HEARTH_CHECK(self.scalar_type() != kBool, "The input tensor may not be a boolean tensor.");
    HEARTH_CHECK_AS(NotImplementedError, !self.is_complex(), "\"mvlgamma\" not implemented for '",
                    name_of(self.scalar_type()), "'");
    HEARTH_CHECK(args.p >= 1, "p has to be greater than or equal to 1");
    const NoAutocast plain;  // keeps the sum in the dtype of self
    const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
    const double p = static_cast<double>(args.p), log_pi = 1.14472988584940017414;
    const Tensor steps = by_name::arange(0.5 - p / 2, 0.25, 0.5, x.options());  // to 0
    return x.unsqueeze(-1).add(steps).lgamma().sum(-1).add(p * (p - 1) / 4 * log_pi);
  }
};

}  // namespace

// HEARTH_DEFINE_OUT and the in-place method, without a free in-place function.
#define HEARTH_DEFINE_WITH_METHOD(name, params, ...) \
  HEARTH_DEFINE_OUT(name, params, __VA_ARGS__)       \
  HEARTH_DEFINE_METHOD_ONLY(Tensor&, name##_, params, (__VA_ARGS__).inplace(self))
HEARTH_DEFINE_WITH_METHOD(lgamma, (), special<kLgamma, fn::Special::lgamma>(self))
HEARTH_DEFINE_WITH_METHOD(digamma, (), special<kDigamma, fn::Special::digamma>(self))
HEARTH_DEFINE_WITH_METHOD(igamma, (const Tensor& other),
                          special<kIgamma, fn::Special::igamma>(self, other))
HEARTH_DEFINE_WITH_METHOD(igammac, (const Tensor& other),
                          special<kIgammac, fn::Special::igammac>(self, other))
HEARTH_DEFINE_WITH_METHOD(nextafter, (const Tensor& other), nextafter_of(self, other))
#undef HEARTH_DEFINE_WITH_METHOD

HEARTH_DEFINE_FUNCTION(polygamma, (int64_t n, const Tensor& self),
                       polygamma_of(n, self, wrapped_number(n)))
HEARTH_DEFINE_METHOD_ONLY(Tensor, polygamma, (int64_t n),
                          polygamma_of(n, self, wrapped_number(n)).call())
HEARTH_DEFINE_METHOD_ONLY(Tensor&, polygamma_, (int64_t n),
                          polygamma_of(n, self, wrapped_number(n)).inplace(self))
HEARTH_DEFINE_COMPOSED_OUT(mvlgamma, (int64_t p), compose<Mvlgamma>({p}, self))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, mvlgamma_, (int64_t p),
                          write_inplace(const_cast<Tensor&>(self),
                                        [&] { return compose<Mvlgamma>({p}, self); }))
HEARTH_DEFINE_ALL_FORMS(i0, (), special<kI0, fn::Special::i0>(self))
HEARTH_DEFINE_ALL_FORMS(sinc, (), pointwise(fn::Sinc{}, self))
HEARTH_DEFINE_ALL_FORMS(logit, (std::optional<double> eps),
                        pointwise(fn::Logit{eps.value_or(-1)}, self))

}  // namespace hearth
