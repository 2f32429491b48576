#include "functors/trig.h"

#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

HEARTH_DEFINE_ALL_FORMS(sin, (), pointwise(fn::Sin{}, self))
HEARTH_DEFINE_ALL_FORMS(cos, (), pointwise(fn::Cos{}, self))
HEARTH_DEFINE_ALL_FORMS(tan, (), pointwise(fn::Tan{}, self))
HEARTH_DEFINE_ALL_FORMS(asin, (), pointwise(fn::Asin{}, self))
HEARTH_DEFINE_ALL_FORMS(acos, (), pointwise(fn::Acos{}, self))
HEARTH_DEFINE_ALL_FORMS(atan, (), pointwise(fn::Atan{}, self))
HEARTH_DEFINE_ALL_FORMS(sinh, (), pointwise(fn::Sinh{}, self))
HEARTH_DEFINE_ALL_FORMS(cosh, (), pointwise(fn::Cosh{}, self))
HEARTH_DEFINE_ALL_FORMS(tanh, (), pointwise(fn::Tanh{}, self))
HEARTH_DEFINE_ALL_FORMS(asinh, (), pointwise(fn::Asinh{}, self))
HEARTH_DEFINE_ALL_FORMS(acosh, (), pointwise(fn::Acosh{}, self))
HEARTH_DEFINE_ALL_FORMS(atanh, (), pointwise(fn::Atanh{}, self))
HEARTH_DEFINE_ALL_FORMS(arcsin, (), pointwise(fn::Asin{}, self))
HEARTH_DEFINE_ALL_FORMS(arccos, (), pointwise(fn::Acos{}, self))
HEARTH_DEFINE_ALL_FORMS(arctan, (), pointwise(fn::Atan{}, self))
HEARTH_DEFINE_ALL_FORMS(arcsinh, (), pointwise(fn::Asinh{}, self))
HEARTH_DEFINE_ALL_FORMS(arccosh, (), pointwise(fn::Acosh{}, self))
HEARTH_DEFINE_ALL_FORMS(arctanh, (), pointwise(fn::Atanh{}, self))
HEARTH_DEFINE_ALL_FORMS(deg2rad, (), pointwise(fn::Deg2Rad{}, self))
HEARTH_DEFINE_ALL_FORMS(rad2deg, (), pointwise(fn::Rad2Deg{}, self))
HEARTH_DEFINE_ALL_FORMS(atan2, (const Tensor& other), pointwise(fn::Atan2{}, self, other))
HEARTH_DEFINE_ALL_FORMS(arctan2, (const Tensor& other), pointwise(fn::Atan2{}, self, other))
HEARTH_DEFINE_ALL_FORMS(hypot, (const Tensor& other), pointwise(fn::Hypot{}, self, other))

}  // namespace hearth
