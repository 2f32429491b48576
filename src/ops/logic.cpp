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

#define HEARTH_DEFINE_OPERATOR(name, function)                                    \
  HEARTH_DEFINE_METHOD(Tensor, name, (const Tensor& other), self.function(other)) \
  HEARTH_DEFINE_METHOD(Tensor, name, (const Scalar& other), self.function(other))
HEARTH_DEFINE_OPERATOR(__and__, bitwise_and)
HEARTH_DEFINE_OPERATOR(__or__, bitwise_or)
HEARTH_DEFINE_OPERATOR(__xor__, bitwise_xor)
HEARTH_DEFINE_OPERATOR(__lshift__, bitwise_left_shift)
HEARTH_DEFINE_OPERATOR(__rshift__, bitwise_right_shift)
#undef HEARTH_DEFINE_OPERATOR
#define HEARTH_DEFINE_ASSIGNMENT(name, function)                                        \
  HEARTH_DEFINE_METHOD_ONLY(Tensor&, name, (const Tensor& other), self.function(other)) \
  HEARTH_DEFINE_METHOD_ONLY(Tensor&, name, (const Scalar& other), self.function(other))
HEARTH_DEFINE_ASSIGNMENT(__iand__, bitwise_and_)
HEARTH_DEFINE_ASSIGNMENT(__ior__, bitwise_or_)
HEARTH_DEFINE_ASSIGNMENT(__ixor__, bitwise_xor_)
HEARTH_DEFINE_ASSIGNMENT(__ilshift__, bitwise_left_shift_)
HEARTH_DEFINE_ASSIGNMENT(__irshift__, bitwise_right_shift_)
#undef HEARTH_DEFINE_ASSIGNMENT

Tensor Tensor::operator~() const { return bitwise_not(); }
Tensor& Tensor::operator&=(const Tensor& other) { return bitwise_and_(other); }
Tensor& Tensor::operator|=(const Tensor& other) { return bitwise_or_(other); }
Tensor& Tensor::operator^=(const Tensor& other) { return bitwise_xor_(other); }

}  // namespace hearth
