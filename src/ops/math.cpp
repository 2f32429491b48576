#include "functors/math.h"
#include "hearth/autograd.h"
#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

HEARTH_DEFINE_POINTWISE(exp, (), pointwise(fn::Exp{}, self))
HEARTH_DEFINE_POINTWISE(expm1, (), pointwise(fn::Expm1{}, self))
HEARTH_DEFINE_POINTWISE(log, (), pointwise(fn::Log{}, self))
HEARTH_DEFINE_POINTWISE(log1p, (), pointwise(fn::Log1p{}, self))
HEARTH_DEFINE_POINTWISE(sqrt, (), pointwise(fn::Sqrt{}, self))
HEARTH_DEFINE_POINTWISE(rsqrt, (), pointwise(fn::Rsqrt{}, self))
HEARTH_DEFINE_POINTWISE(tanh, (), pointwise(fn::Tanh{}, self))
HEARTH_DEFINE_POINTWISE(erf, (), pointwise(fn::Erf{}, self))
HEARTH_DEFINE_POINTWISE(erfc, (), pointwise(fn::Erfc{}, self))
HEARTH_DEFINE_POINTWISE(sin, (), pointwise(fn::Sin{}, self))
HEARTH_DEFINE_POINTWISE(cos, (), pointwise(fn::Cos{}, self))
HEARTH_DEFINE_POINTWISE(floor, (), pointwise(fn::Floor{}, self))
HEARTH_DEFINE_POINTWISE(ceil, (), pointwise(fn::Ceil{}, self))
HEARTH_DEFINE_POINTWISE(round, (), pointwise(fn::Round{}, self))
HEARTH_DEFINE_POINTWISE(trunc, (), pointwise(fn::Trunc{}, self))
HEARTH_DEFINE_POINTWISE(atan2, (const Tensor& other), pointwise(fn::Atan2{}, self, other))

namespace {

/// Integers have no remainder by 0. As in PyTorch only the CPU looks: elsewhere it is 0.
const Tensor& checked_divisor(const Tensor& self, const Tensor& other) {
  if (!self.defined() || !other.defined() || !self.is_cpu() || !other.is_cpu()) return other;
  if (!is_integral(result_type(self, other), true) || self.numel() == 0) return other;
  const AutoGradMode off(false);
  HEARTH_CHECK(other.ne(0).all().item<bool>(), "ZeroDivisionError");
  return other;
}

}  // namespace

HEARTH_DEFINE_POINTWISE(fmod, (const Tensor& other),
                        pointwise(fn::Fmod{}, self, checked_divisor(self, other)))
HEARTH_DEFINE_POINTWISE(fmod, (const Scalar& other),
                        pointwise(fn::Fmod{}, self, checked_divisor(self, wrapped_number(other))))

}  // namespace hearth
