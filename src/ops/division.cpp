#include "functors/division.h"

#include "hearth/autograd.h"
#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

namespace {

/// Integers have no remainder by 0. As in PyTorch only the CPU looks: elsewhere it is 0.
const Tensor& nonzero_divisor(const Tensor& self, const Tensor& other) {
  if (!self.defined() || !other.defined() || !self.is_cpu() || !other.is_cpu()) return other;
  if (!is_integral(result_type(self, other), true) || self.numel() == 0) return other;
  const AutoGradMode off(false);
  HEARTH_CHECK(other.ne(0).all().item<bool>(), "ZeroDivisionError");
  return other;
}

using Rounding = std::optional<std::string_view>;

auto divided(const Tensor& self, const Tensor& other, Rounding mode = {}) {
  HEARTH_CHECK(!mode || *mode == "trunc" || *mode == "floor",
               "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
               mode.value_or(""), "'");
  if (mode) nonzero_divisor(self, other);
  return pick(!mode, pointwise(fn::Div{}, self, other),
              pick(mode == "trunc", pointwise(fn::DivTrunc{}, self, other),
                   pointwise(fn::DivFloor{}, self, other)));
}

}  // namespace

#define HEARTH_DEFINE_TRUE_DIV(name)                                                      \
  HEARTH_DEFINE_POINTWISE(name, (const Tensor& other), pointwise(fn::Div{}, self, other)) \
  HEARTH_DEFINE_POINTWISE(name, (const Scalar& other),                                    \
                          pointwise(fn::Div{}, self, wrapped_number(other)))
#define HEARTH_DEFINE_DIV(name)                                                \
  HEARTH_DEFINE_TRUE_DIV(name)                                                 \
  HEARTH_DEFINE_POINTWISE(name, (const Tensor& other, Rounding rounding_mode), \
                          divided(self, other, rounding_mode))                 \
  HEARTH_DEFINE_POINTWISE(name, (const Scalar& other, Rounding rounding_mode), \
                          divided(self, wrapped_number(other), rounding_mode))
HEARTH_DEFINE_DIV(div)
HEARTH_DEFINE_DIV(divide)
HEARTH_DEFINE_TRUE_DIV(true_divide)
#undef HEARTH_DEFINE_DIV
#undef HEARTH_DEFINE_TRUE_DIV

#define HEARTH_DEFINE_QUOTIENT(name, Functor)                                           \
  HEARTH_DEFINE_POINTWISE(name, (const Tensor& other),                                  \
                          pointwise(fn::Functor{}, self, nonzero_divisor(self, other))) \
  HEARTH_DEFINE_POINTWISE(                                                              \
      name, (const Scalar& other),                                                      \
      pointwise(fn::Functor{}, self, nonzero_divisor(self, wrapped_number(other))))
HEARTH_DEFINE_QUOTIENT(floor_divide, FloorDivide)
HEARTH_DEFINE_QUOTIENT(remainder, Remainder)
HEARTH_DEFINE_QUOTIENT(fmod, Fmod)
#undef HEARTH_DEFINE_QUOTIENT

Tensor remainder(const Scalar& self, const Tensor& other) {
  return remainder(wrapped_number(self), other);
}
HEARTH_DEFINE_POINTWISE(reciprocal, (), pointwise(fn::Reciprocal{}, self))

}  // namespace hearth
