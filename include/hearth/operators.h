#pragma once

#include "hearth/tensor.h"

namespace hearth {

// a op b, where one side may be a number.
#define HEARTH_OPERATOR(op, function)                                                    \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator op(const Tensor& a, const Scalar& b) { return function(a, b); }
HEARTH_OPERATOR(+, add)
HEARTH_OPERATOR(-, sub)
HEARTH_OPERATOR(*, mul)
HEARTH_OPERATOR(/, div)
HEARTH_OPERATOR(==, eq)
HEARTH_OPERATOR(!=, ne)
HEARTH_OPERATOR(<, lt)
HEARTH_OPERATOR(<=, le)
HEARTH_OPERATOR(>, gt)
HEARTH_OPERATOR(>=, ge)
#undef HEARTH_OPERATOR
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator/(const Scalar& a, const Tensor& b) {
  return div(full({}, a, b.options()), b);
}
inline Tensor operator==(const Scalar& a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return ge(b, a); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return le(b, a); }

}  // namespace hearth
