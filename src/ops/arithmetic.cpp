#include <mutex>

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
  (void)alpha.stored_as(type);  // throws if it does not fit
  return {alpha.toDouble(), alpha.isIntegral(true) ? alpha.toLong() : 0};
}

/// The plain case costs nothing.
Factor alpha_of(const Scalar& alpha, const Tensor& self, const Tensor& other) {
  if (alpha.isIntegral(false) && alpha.toLong() == 1) return {};
  return factor(alpha, self, other);
}

const Tensor& not_bool(const Tensor& self, bool other_is_bool) {
  const bool self_is_bool = self.scalar_type() == kBool;
  HEARTH_CHECK_AS(NotImplementedError, !(self_is_bool && other_is_bool),
                  "Subtraction, the `-` operator, with two bool tensors is not supported. Use the "
                  "`^` or `logical_xor()` operator instead.");
  HEARTH_CHECK_AS(NotImplementedError, !self_is_bool && !other_is_bool,
                  "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                  "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
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
                        pointwise(fn::Sub{alpha_of(alpha, self, other)},
                                  not_bool(self, other.scalar_type() == kBool), other))
HEARTH_DEFINE_POINTWISE(sub, (const Scalar& other, const Scalar& alpha),
                        pointwise(fn::Sub{alpha_of(alpha, self, self)},
                                  not_bool(self, other.isBoolean()), wrapped_number(other)))
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return pointwise(fn::Sub{alpha_of(alpha, self, self)}, wrapped_number(other),
                   not_bool(self, other.isBoolean()))
      .call();
}
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

namespace {

Tensor exponent_of(const Tensor& self, const Scalar& exponent) {
  HEARTH_CHECK(!(is_integral(self.scalar_type(), true) && exponent.isIntegral(true) &&
                 exponent.toLong() < 0),
               "Integers to negative integer powers are not allowed.");
  const ScalarType type = result_type(self, exponent);
  if (is_integral(type, true) || is_reduced_float(type)) (void)exponent.stored_as(type);
  return wrapped_number(exponent);
}

Tensor boolean(const Tensor& condition) {
  if (condition.defined() && condition.scalar_type() == kByte) {
    static std::once_flag warned;
    std::call_once(warned, [] {
      warn(
          "where received a uint8 condition tensor. This behavior is deprecated and will be "
          "removed in a future version of PyTorch. Use a boolean condition instead.");
    });
    return condition.to(kBool);
  }
  HEARTH_CHECK(condition.scalar_type() == kBool,
               "where expected condition to be a boolean tensor, but got a tensor with dtype ",
               name_of(condition.scalar_type()));
  return condition;
}

/// A number among the branches, as scalar_tensor would store it in the result's dtype.
Tensor branch(const Scalar& value, ScalarType result) {
  return wrapped_number(is_reduced_float(result) ? value : value.stored_as(result));
}

}  // namespace

HEARTH_DEFINE_POINTWISE(pow, (const Scalar& exponent),
                        pointwise(fn::Pow{}, self, exponent_of(self, exponent)))

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return pointwise(fn::Where{}, boolean(condition), self, other).call();
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where(condition, branch(self, result_type(other, self)), other);
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where(condition, self, branch(other, result_type(self, other)));
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const ScalarType type = result_type(wrapped_number(self), other);
  return where(condition, branch(self, type), branch(other, type));
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
