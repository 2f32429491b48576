#include "functors/logic.h"

#include "ops/define.h"
#include "ops/pointwise_named.h"

namespace hearth {

HEARTH_DEFINE_ALL_FORMS(logical_and, (const Tensor& other),
                        pointwise(fn::LogicalAnd{}, self, other))
HEARTH_DEFINE_ALL_FORMS(logical_or, (const Tensor& other), pointwise(fn::LogicalOr{}, self, other))
HEARTH_DEFINE_ALL_FORMS(logical_xor, (const Tensor& other),
                        pointwise(fn::LogicalXor{}, self, other))
HEARTH_DEFINE_ALL_FORMS(logical_not, (), pointwise(fn::LogicalNot{}, self))

#define HEARTH_DEFINE_BITWISE(name, Functor)                              \
  HEARTH_DEFINE_BINARY(name, Functor)                                     \
  HEARTH_DEFINE_FUNCTION(name, (const Scalar& self, const Tensor& other), \
                         pointwise(fn::Functor{}, wrapped_number(self), other))
HEARTH_DEFINE_BITWISE(bitwise_and, BitwiseAnd)
HEARTH_DEFINE_BITWISE(bitwise_or, BitwiseOr)
HEARTH_DEFINE_BITWISE(bitwise_xor, BitwiseXor)
HEARTH_DEFINE_BITWISE(bitwise_left_shift, LeftShift)
HEARTH_DEFINE_BITWISE(bitwise_right_shift, RightShift)
#undef HEARTH_DEFINE_BITWISE
HEARTH_DEFINE_ALL_FORMS(bitwise_not, (),
                        pick(self.scalar_type() == kBool, pointwise(fn::LogicalNot{}, self),
                             pointwise(fn::BitwiseNot{}, self)))

#define HEARTH_DEFINE_OPERATOR(name, inplace, function, Other)                   \
  HEARTH_DEFINE_METHOD(Tensor, name, (const Other& other), self.function(other)) \
  HEARTH_DEFINE_METHOD_ONLY(Tensor&, inplace, (const Other& other), self.function##_(other))
#define HEARTH_DEFINE_OPERATORS(name, inplace, function)  \
  HEARTH_DEFINE_OPERATOR(name, inplace, function, Tensor) \
  HEARTH_DEFINE_OPERATOR(name, inplace, function, Scalar)
HEARTH_DEFINE_OPERATORS(__and__, __iand__, bitwise_and)
HEARTH_DEFINE_OPERATORS(__or__, __ior__, bitwise_or)
HEARTH_DEFINE_OPERATORS(__xor__, __ixor__, bitwise_xor)
HEARTH_DEFINE_OPERATORS(__lshift__, __ilshift__, bitwise_left_shift)
HEARTH_DEFINE_OPERATORS(__rshift__, __irshift__, bitwise_right_shift)
#undef HEARTH_DEFINE_OPERATORS
#undef HEARTH_DEFINE_OPERATOR

Tensor Tensor::operator~() const { return bitwise_not(); }
Tensor& Tensor::operator&=(const Tensor& other) { return bitwise_and_(other); }
Tensor& Tensor::operator|=(const Tensor& other) { return bitwise_or_(other); }
Tensor& Tensor::operator^=(const Tensor& other) { return bitwise_xor_(other); }

}  // namespace hearth
