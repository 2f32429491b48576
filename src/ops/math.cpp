#include "functors/math.h"

#include <cmath>

#include "ops/define.h"
#include "ops/pointwise_named.h"
#include "ops/saturate.h"

namespace hearth {

namespace {

constexpr OpInfo kCopysignNumber = with_node(fn::Copysign::info, "CopysignBackward1"),
                 kLog1p = with_node(fn::Log1p::info, "Log1P"),
                 kXlogySelfNumber = with_node(fn::Xlogy::info, "XlogyBackward1"),
                 kXlogyOtherNumber = with_node(fn::Xlogy::info, "XlogyBackward2"),
                 kRoundDecimals = with_node(fn::RoundDecimals::info, "RoundBackward1");

}  // namespace

HEARTH_DEFINE_ALL_FORMS(exp, (), pointwise(fn::Exp{}, self))
HEARTH_DEFINE_ALL_FORMS(exp2, (), pointwise(fn::Exp2{}, self))
HEARTH_DEFINE_ALL_FORMS(expm1, (), pointwise(fn::Expm1{}, self))
HEARTH_DEFINE_ALL_FORMS(log, (), pointwise(fn::Log{}, self))
HEARTH_DEFINE_ALL_FORMS(log2, (), pointwise(fn::Log2{}, self))
HEARTH_DEFINE_ALL_FORMS(log10, (), pointwise(fn::Log10{}, self))
HEARTH_DEFINE_ALL_FORMS(log1p, (), pointwise_as<kLog1p>(fn::Log1p{}, self))
HEARTH_DEFINE_ALL_FORMS(sqrt, (), pointwise(fn::Sqrt{}, self))
HEARTH_DEFINE_ALL_FORMS(rsqrt, (), pointwise(fn::Rsqrt{}, self))
HEARTH_DEFINE_ALL_FORMS(erf, (), pointwise(fn::Erf{}, self))
HEARTH_DEFINE_ALL_FORMS(erfc, (), pointwise(fn::Erfc{}, self))
HEARTH_DEFINE_FUNCTION(special_ndtr, (const Tensor& self), pointwise(fn::SpecialNdtr{}, self))
HEARTH_DEFINE_ALL_FORMS(erfinv, (), pointwise(fn::Erfinv{}, self))
HEARTH_DEFINE_BINARY_AS(xlogy, Xlogy, kXlogyOtherNumber)
HEARTH_DEFINE_FUNCTION(xlogy, (const Scalar& self, const Tensor& other),
                       pointwise_as<kXlogySelfNumber>(fn::Xlogy{}, wrapped_number(self), other))
HEARTH_DEFINE_OUT(logaddexp, (const Tensor& other), pointwise(fn::LogAddExp{}, self, other))
HEARTH_DEFINE_OUT(logaddexp2, (const Tensor& other), pointwise(fn::LogAddExp2{}, self, other))
HEARTH_DEFINE_OUT(copysign, (const Tensor& other), pointwise(fn::Copysign{}, self, other))
HEARTH_DEFINE_OUT(copysign, (const Scalar& other),
                  pointwise_as<kCopysignNumber>(fn::Copysign{}, self, wrapped_number(other)))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, copysign_, (const Tensor& other),
                          pointwise(fn::Copysign{}, self, other).inplace(self))
HEARTH_DEFINE_METHOD_ONLY(
    Tensor&, copysign_, (const Scalar& other),
    pointwise_as<kCopysignNumber>(fn::Copysign{}, self, wrapped_number(other)).inplace(self))
HEARTH_DEFINE_ALL_FORMS(floor, (), pointwise(fn::Floor{}, self))
HEARTH_DEFINE_ALL_FORMS(ceil, (), pointwise(fn::Ceil{}, self))
HEARTH_DEFINE_ALL_FORMS(round, (), pointwise(fn::Round{}, self))
HEARTH_DEFINE_ALL_FORMS(trunc, (), pointwise(fn::Trunc{}, self))
HEARTH_DEFINE_ALL_FORMS(fix, (), pointwise(fn::Trunc{}, self))
HEARTH_DEFINE_ALL_FORMS(frac, (), pointwise(fn::Frac{}, self))

namespace {

fn::RoundDecimals to_decimals(int64_t decimals) {
  return {decimals > 0 ? std::pow(10, decimals) : 1, decimals < 0 ? std::pow(10, -decimals) : 1};
}

}  // namespace

HEARTH_DEFINE_ALL_FORMS(round, (int64_t decimals),
                        pointwise_as<kRoundDecimals>(to_decimals(decimals), self))
HEARTH_DEFINE_ALL_FORMS(
    nan_to_num,
    (std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf),
    pointwise(fn::NanToNum{nan.value_or(0), posinf.value_or(largest_number(self.scalar_type())),
                           neginf.value_or(-largest_number(self.scalar_type()))},
              self))

}  // namespace hearth
