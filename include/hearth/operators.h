#pragma once

#include "hearth/tensor.h"

namespace hearth {

namespace detail {
/// The number as an operand for b: rounded to b's dtype unless b has integers. Throws if it does
/// not fit.
HEARTH_API Tensor number_for(const Scalar& number, const Tensor& b);
}  // namespace detail

// Elementwise operators on two tensors or a tensor and a number.
#define HEARTH_OPERATOR(op, function, reversed)                                          \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator op(const Tensor& a, const Scalar& b) { return function(a, b); } \
  inline Tensor operator op(const Scalar& a, const Tensor& b) { return reversed; }
HEARTH_OPERATOR(+, add, add(b, a))
HEARTH_OPERATOR(-, sub, sub(detail::number_for(a, b), b))
HEARTH_OPERATOR(*, mul, mul(b, a))
HEARTH_OPERATOR(/, div, div(detail::number_for(a, b), b))
HEARTH_OPERATOR(%, remainder, remainder(a, b))
HEARTH_OPERATOR(&, bitwise_and, bitwise_and(b, a))
HEARTH_OPERATOR(|, bitwise_or, bitwise_or(b, a))
HEARTH_OPERATOR(^, bitwise_xor, bitwise_xor(b, a))
HEARTH_OPERATOR(==, eq, eq(b, a))
HEARTH_OPERATOR(!=, ne, ne(b, a))
HEARTH_OPERATOR(<, lt, gt(b, a))
HEARTH_OPERATOR(<=, le, ge(b, a))
HEARTH_OPERATOR(>, gt, lt(b, a))
HEARTH_OPERATOR(>=, ge, le(b, a))
#undef HEARTH_OPERATOR

}  // namespace hearth
