#include "functors/arithmetic.h"
#include "hearth/tensor.h"
#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

namespace {

/// alpha of add and sub: an integer stays exact; a fraction needs a floating-point result.
Factor factor(const Scalar& alpha, const Tensor& self, const Tensor& other) {
  const ScalarType type = result_type(self, other);
  HEARTH_CHECK(type == kBool || !alpha.isBoolean(),
               "Boolean alpha only supported for Boolean results.");
  HEARTH_CHECK(is_floating_point(type) || is_complex(type) || alpha.isIntegral(true),
               "For integral input tensors, argument alpha must not be a floating point number.");
  return {alpha.toDouble(), alpha.isIntegral(true) ? alpha.toLong() : 0};
}

/// The plain case costs nothing.
Factor alpha_of(const Scalar& alpha, const Tensor& self, const Tensor& other) {
  if (alpha.isIntegral(false) && alpha.toLong() == 1) return {};
  return factor(alpha, self, other);
}

const Tensor& not_bool(const Tensor& self, const Tensor& other) {
  HEARTH_CHECK(self.scalar_type() != kBool || other.scalar_type() != kBool,
               "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` "
               "or `logical_xor()` "
               "operator instead.");
  return self;
}

const Tensor& not_bool(const Tensor& self) {
  HEARTH_CHECK(self.scalar_type() != kBool,
               "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
               "to invert a mask, use "
               "the `~` or `logical_not()` operator instead.");
  return self;
}

}  // namespace

HEARTH_DEFINE_POINTWISE(add, (const Tensor& other, const Scalar& alpha),
                        pointwise(fn::Add{alpha_of(alpha, self, other)}, self, other))
HEARTH_DEFINE_POINTWISE(add, (const Scalar& other, const Scalar& alpha),
                        pointwise(fn::Add{alpha_of(alpha, self, self)}, self,
                                  wrapped_number(other)))
HEARTH_DEFINE_POINTWISE(sub, (const Tensor& other, const Scalar& alpha),
                        pointwise(fn::Sub{alpha_of(alpha, self, other)}, not_bool(self, other),
                                  other))
HEARTH_DEFINE_POINTWISE(sub, (const Scalar& other, const Scalar& alpha),
                        pointwise(fn::Sub{alpha_of(alpha, self, self)}, self,
                                  wrapped_number(other)))
HEARTH_DEFINE_POINTWISE(mul, (const Tensor& other), pointwise(fn::Mul{}, self, other))
HEARTH_DEFINE_POINTWISE(mul, (const Scalar& other),
                        pointwise(fn::Mul{}, self, wrapped_number(other)))
HEARTH_DEFINE_POINTWISE(div, (const Tensor& other), pointwise(fn::Div{}, self, other))
HEARTH_DEFINE_POINTWISE(div, (const Scalar& other),
                        pointwise(fn::Div{}, self, wrapped_number(other)))
HEARTH_DEFINE_POINTWISE(neg, (), pointwise(fn::Neg{}, not_bool(self)))
HEARTH_DEFINE_POINTWISE(abs, (), pointwise(fn::Abs{}, self))
HEARTH_DEFINE_OUT(maximum, (const Tensor& other), pointwise(fn::Maximum{}, self, other))
HEARTH_DEFINE_OUT(minimum, (const Tensor& other), pointwise(fn::Minimum{}, self, other))
HEARTH_DEFINE_POINTWISE(pow, (const Tensor& exponent), pointwise(fn::Pow{}, self, exponent))
HEARTH_DEFINE_POINTWISE(pow, (const Scalar& exponent),
                        pointwise(fn::Pow{}, self, wrapped_number(exponent)))

namespace {

const Tensor& boolean(const Tensor& condition) {
  HEARTH_CHECK(condition.scalar_type() == kBool,
               "where expected condition to be a boolean tensor, but got a tensor with dtype ",
               name_of(condition.scalar_type()));
  return condition;
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return pointwise(fn::Where{}, boolean(condition), self, other).call();
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where(condition, wrapped_number(self), other);
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where(condition, self, wrapped_number(other));
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return where(condition, wrapped_number(self), wrapped_number(other));
}

ScalarType result_type(const Tensor& a, const Tensor& b) {
  const Tensor* both[] = {&a, &b};
  return result_type_of({both, 2});
}
ScalarType result_type(const Tensor& a, const Scalar& b) {
  return result_type(a, wrapped_number(b));
}

Tensor Tensor::operator-() const { return neg(); }
Tensor Tensor::operator~() const {
  HEARTH_CHECK(scalar_type() == kBool, "operator ~ needs a bool tensor, got ",
               name_of(scalar_type()));
  return logical_not();
}
#define HEARTH_COMPOUND(op, method)                                          \
  Tensor& Tensor::operator op(const Tensor& other) { return method(other); } \
  Tensor& Tensor::operator op(const Scalar& other) { return method(other); }
HEARTH_COMPOUND(+=, add_)
HEARTH_COMPOUND(-=, sub_)
HEARTH_COMPOUND(*=, mul_)
HEARTH_COMPOUND(/=, div_)
#undef HEARTH_COMPOUND

}  // namespace hearth
