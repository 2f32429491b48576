#include "functors/trig.h"

#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

HEARTH_DEFINE_POINTWISE(sin, (), pointwise(fn::Sin{}, self))
HEARTH_DEFINE_POINTWISE(cos, (), pointwise(fn::Cos{}, self))
HEARTH_DEFINE_POINTWISE(tan, (), pointwise(fn::Tan{}, self))
HEARTH_DEFINE_POINTWISE(asin, (), pointwise(fn::Asin{}, self))
HEARTH_DEFINE_POINTWISE(acos, (), pointwise(fn::Acos{}, self))
HEARTH_DEFINE_POINTWISE(atan, (), pointwise(fn::Atan{}, self))
HEARTH_DEFINE_POINTWISE(sinh, (), pointwise(fn::Sinh{}, self))
HEARTH_DEFINE_POINTWISE(cosh, (), pointwise(fn::Cosh{}, self))
HEARTH_DEFINE_POINTWISE(tanh, (), pointwise(fn::Tanh{}, self))
HEARTH_DEFINE_POINTWISE(asinh, (), pointwise(fn::Asinh{}, self))
HEARTH_DEFINE_POINTWISE(acosh, (), pointwise(fn::Acosh{}, self))
HEARTH_DEFINE_POINTWISE(atanh, (), pointwise(fn::Atanh{}, self))
HEARTH_DEFINE_POINTWISE(arcsin, (), pointwise(fn::Asin{}, self))
HEARTH_DEFINE_POINTWISE(arccos, (), pointwise(fn::Acos{}, self))
HEARTH_DEFINE_POINTWISE(arctan, (), pointwise(fn::Atan{}, self))
HEARTH_DEFINE_POINTWISE(arcsinh, (), pointwise(fn::Asinh{}, self))
HEARTH_DEFINE_POINTWISE(arccosh, (), pointwise(fn::Acosh{}, self))
HEARTH_DEFINE_POINTWISE(arctanh, (), pointwise(fn::Atanh{}, self))
HEARTH_DEFINE_POINTWISE(deg2rad, (), pointwise(fn::Deg2Rad{}, self))
HEARTH_DEFINE_POINTWISE(rad2deg, (), pointwise(fn::Rad2Deg{}, self))
HEARTH_DEFINE_POINTWISE(atan2, (const Tensor& other), pointwise(fn::Atan2{}, self, other))
HEARTH_DEFINE_POINTWISE(arctan2, (const Tensor& other), pointwise(fn::Atan2{}, self, other))
HEARTH_DEFINE_POINTWISE(hypot, (const Tensor& other), pointwise(fn::Hypot{}, self, other))

}  // namespace hearth
