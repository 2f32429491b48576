#include "functors/math.h"
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
HEARTH_DEFINE_POINTWISE(fmod, (const Tensor& other), pointwise(fn::Fmod{}, self, other))
HEARTH_DEFINE_POINTWISE(fmod, (const Scalar& other),
                        pointwise(fn::Fmod{}, self, wrapped_number(other)))

}  // namespace hearth
