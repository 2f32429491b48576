#pragma once

#include "functors/hd.h"
#include "hearth/tensor.h"
#include "ops/promote.h"

namespace hearth {

/// The gradient of binary_cross_entropy with respect to its input: an op with a derivative.
Tensor binary_cross_entropy_slope(const Tensor& g, const Tensor& input, const Tensor& target);

/// A tensor as the value type V of functors: a formula runs as ordinary ops, so that its gradient
/// has a graph.
struct TensorValue {
  static constexpr bool kIntegral = false;
  Tensor tensor;

  TensorValue() = default;
  explicit TensorValue(Tensor t) : tensor(std::move(t)) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  TensorValue(T number) : tensor(wrapped_number(Scalar(number))) {}
  /// Conjugates the number: formulas on tensors are gradients, which read conjugated numbers.
  static TensorValue from_parts(double real, double imag) {
    return TensorValue(
        wrapped_number(imag == 0 ? Scalar(real) : Scalar(complex<double>(real, -imag))));
  }

#define HEARTH_VALUE_OPERATOR(op, function)                                    \
  friend TensorValue operator op(const TensorValue& a, const TensorValue& b) { \
    return TensorValue(hearth::function(a.tensor, b.tensor));                  \
  }
  HEARTH_VALUE_OPERATOR(*, mul)
  HEARTH_VALUE_OPERATOR(/, div)
  HEARTH_VALUE_OPERATOR(<, lt)
  HEARTH_VALUE_OPERATOR(<=, le)
  HEARTH_VALUE_OPERATOR(>, gt)
  HEARTH_VALUE_OPERATOR(>=, ge)
  HEARTH_VALUE_OPERATOR(==, eq)
  HEARTH_VALUE_OPERATOR(!=, ne)
  HEARTH_VALUE_OPERATOR(&, logical_and)
  HEARTH_VALUE_OPERATOR(|, logical_or)
#undef HEARTH_VALUE_OPERATOR
  friend TensorValue operator+(const TensorValue& a, const TensorValue& b) {
    return TensorValue(hearth::add(a.tensor, b.tensor));
  }
  friend TensorValue operator-(const TensorValue& a, const TensorValue& b) {
    return TensorValue(hearth::sub(a.tensor, b.tensor));
  }
  friend TensorValue operator-(const TensorValue& a) { return TensorValue(hearth::neg(a.tensor)); }
  friend TensorValue operator!(const TensorValue& a) {
    return TensorValue(hearth::logical_not(a.tensor));
  }
  friend TensorValue select(const TensorValue& c, const TensorValue& a, const TensorValue& b) {
    return TensorValue(hearth::where(c.tensor, a.tensor, b.tensor));
  }
  friend TensorValue zero_like(const TensorValue& a) {
    return TensorValue(hearth::zeros_like(a.tensor));
  }
  friend TensorValue constant(const TensorValue& a) { return TensorValue(a.tensor.detach()); }
  /// A constant whose derivative is that of `path`.
  static TensorValue along(const TensorValue& constant, const TensorValue& path) {
    return constant + (path - TensorValue(path.tensor.detach()));
  }
  friend TensorValue binary_cross_entropy_slope(const TensorValue& g, const TensorValue& a,
                                                const TensorValue& b) {
    return TensorValue(hearth::binary_cross_entropy_slope(g.tensor, a.tensor, b.tensor));
  }
  friend TensorValue hypotenuse(const TensorValue& a, const TensorValue& b) {
    return TensorValue(hearth::hypot(a.tensor, b.tensor));
  }
#define HEARTH_VALUE_FUNCTION(name) \
  friend TensorValue name(const TensorValue& a) { return TensorValue(hearth::name(a.tensor)); }
  HEARTH_VALUE_UNARY(HEARTH_VALUE_FUNCTION)
  HEARTH_VALUE_TESTS(HEARTH_VALUE_FUNCTION)
  HEARTH_VALUE_FUNCTION(conj)
#undef HEARTH_VALUE_FUNCTION
#define HEARTH_VALUE_FUNCTION(name)                                     \
  friend TensorValue name(const TensorValue& a, const TensorValue& b) { \
    return TensorValue(hearth::name(a.tensor, b.tensor));               \
  }
  HEARTH_VALUE_BINARY(HEARTH_VALUE_FUNCTION)
#undef HEARTH_VALUE_FUNCTION
};

}  // namespace hearth
