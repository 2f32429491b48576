#include "functors/math.h"

#include <cmath>

#include "ops/define.h"
#include "ops/pointwise_named.h"

namespace hearth {

namespace {

constexpr OpInfo kLog1p = with_node(fn::Log1p::info, "Log1P"),
                 kXlogyOfNumber = with_node(fn::Xlogy::info, "XlogyBackward1"),
                 kXlogyNumber = with_node(fn::Xlogy::info, "XlogyBackward2"),
                 kRoundDecimals = with_node(fn::RoundDecimals::info, "RoundBackward1");

}  // namespace

HEARTH_DEFINE_POINTWISE(exp, (), pointwise(fn::Exp{}, self))
HEARTH_DEFINE_POINTWISE(exp2, (), pointwise(fn::Exp2{}, self))
HEARTH_DEFINE_POINTWISE(expm1, (), pointwise(fn::Expm1{}, self))
HEARTH_DEFINE_POINTWISE(log, (), pointwise(fn::Log{}, self))
HEARTH_DEFINE_POINTWISE(log2, (), pointwise(fn::Log2{}, self))
HEARTH_DEFINE_POINTWISE(log10, (), pointwise(fn::Log10{}, self))
HEARTH_DEFINE_POINTWISE(log1p, (), pointwise_as<kLog1p>(fn::Log1p{}, self))
HEARTH_DEFINE_POINTWISE(sqrt, (), pointwise(fn::Sqrt{}, self))
HEARTH_DEFINE_POINTWISE(rsqrt, (), pointwise(fn::Rsqrt{}, self))
HEARTH_DEFINE_POINTWISE(erf, (), pointwise(fn::Erf{}, self))
HEARTH_DEFINE_POINTWISE(erfc, (), pointwise(fn::Erfc{}, self))
Tensor special_ndtr(const Tensor& self) { return pointwise(fn::SpecialNdtr{}, self).call(); }
Tensor& special_ndtr_out(Tensor& out, const Tensor& self) {
  return pointwise(fn::SpecialNdtr{}, self).out(out);
}
HEARTH_DEFINE_POINTWISE(erfinv, (), pointwise(fn::Erfinv{}, self))
HEARTH_DEFINE_POINTWISE(xlogy, (const Tensor& other), pointwise(fn::Xlogy{}, self, other))
HEARTH_DEFINE_POINTWISE(xlogy, (const Scalar& other),
                        pointwise_as<kXlogyNumber>(fn::Xlogy{}, self, wrapped_number(other)))
Tensor xlogy(const Scalar& self, const Tensor& other) {
  return pointwise_as<kXlogyOfNumber>(fn::Xlogy{}, wrapped_number(self), other).call();
}
Tensor& xlogy_out(Tensor& out, const Scalar& self, const Tensor& other) {
  return pointwise_as<kXlogyOfNumber>(fn::Xlogy{}, wrapped_number(self), other).out(out);
}
HEARTH_DEFINE_POINTWISE(floor, (), pointwise(fn::Floor{}, self))
HEARTH_DEFINE_POINTWISE(ceil, (), pointwise(fn::Ceil{}, self))
HEARTH_DEFINE_POINTWISE(round, (), pointwise(fn::Round{}, self))
HEARTH_DEFINE_POINTWISE(trunc, (), pointwise(fn::Trunc{}, self))
HEARTH_DEFINE_POINTWISE(fix, (), pointwise(fn::Trunc{}, self))
HEARTH_DEFINE_POINTWISE(frac, (), pointwise(fn::Frac{}, self))

namespace {

fn::RoundDecimals to_decimals(int64_t decimals) {
  return {decimals > 0 ? std::pow(10, decimals) : 1, decimals < 0 ? std::pow(10, -decimals) : 1};
}

double largest(ScalarType type) {
  switch (type) {
    case kHalf: return 65504;
    case kBFloat16: return 0x1.fep127;
    case kDouble: return __DBL_MAX__;
    default: return __FLT_MAX__;
  }
}

}  // namespace

HEARTH_DEFINE_POINTWISE(round, (int64_t decimals),
                        pointwise_as<kRoundDecimals>(to_decimals(decimals), self))
HEARTH_DEFINE_POINTWISE(
    nan_to_num,
    (std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf),
    pointwise(fn::NanToNum{nan.value_or(0), posinf.value_or(largest(self.scalar_type())),
                           neginf.value_or(-largest(self.scalar_type()))},
              self))

}  // namespace hearth
