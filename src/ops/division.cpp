#include "functors/division.h"

#include "hearth/autograd.h"
#include "ops/define.h"
#include "ops/pointwise_named.h"

namespace hearth {

namespace {

/// Returns the divisor `other`; throws if integers are divided and a divisor is 0. As in PyTorch,
/// only CPU tensors are checked.
const Tensor& nonzero_divisor(const Tensor& self, const Tensor& other) {
  if (!self.defined() || !other.defined() || !self.is_cpu() || !other.is_cpu()) return other;
  if (!is_integral(result_type(self, other), false) || self.numel() == 0) return other;
  const AutoGradMode off(false);
  HEARTH_CHECK(other.ne(0).all().item<bool>(), "ZeroDivisionError");
  return other;
}

constexpr OpInfo kDivNumber = with_node(fn::Div::info, "DivBackward1"),
                 kTruncTensor = with_node(fn::DivTrunc::info, "DivBackward2"),
                 kFloorTensor = with_node(fn::DivFloor::info, "DivBackward2"),
                 kTruncNumber = with_node(fn::DivTrunc::info, "DivBackward3"),
                 kFloorNumber = with_node(fn::DivFloor::info, "DivBackward3"),
                 kRemainderTensor = with_node(fn::Remainder::info, "RemainderBackward1"),
                 kFmodTensor = with_node(fn::Fmod::info, "FmodBackward1");

using Rounding = std::optional<std::string_view>;

template <const OpInfo& exact, const OpInfo& trunc, const OpInfo& floor>
auto divided(const Tensor& self, const Tensor& other, Rounding mode) {
  HEARTH_CHECK(!mode || *mode == "trunc" || *mode == "floor",
               "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
               mode.value_or(""), "'");
  if (mode) nonzero_divisor(self, other);
  return pick(!mode, pointwise_as<exact>(fn::Div{}, self, other),
              pick(mode == "trunc", pointwise_as<trunc>(fn::DivTrunc{}, self, other),
                   pointwise_as<floor>(fn::DivFloor{}, self, other)));
}
constexpr OpInfo kDivTensorMode = with_node(fn::Div::info, "DivBackward2"),
                 kDivNumberMode = with_node(fn::Div::info, "DivBackward3");
constexpr auto by_tensor = &divided<kDivTensorMode, kTruncTensor, kFloorTensor>;
constexpr auto by_number = &divided<kDivNumberMode, kTruncNumber, kFloorNumber>;

}  // namespace

#define HEARTH_DEFINE_DIV(name)                                                \
  HEARTH_DEFINE_BINARY_AS(name, Div, kDivNumber)                               \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other, Rounding rounding_mode), \
                          by_tensor(self, other, rounding_mode))               \
  HEARTH_DEFINE_ALL_FORMS(name, (const Scalar& other, Rounding rounding_mode), \
                          by_number(self, wrapped_number(other), rounding_mode))
HEARTH_DEFINE_DIV(div)
HEARTH_DEFINE_DIV(divide)
HEARTH_DEFINE_BINARY_AS(true_divide, Div, kDivNumber)
#undef HEARTH_DEFINE_DIV

HEARTH_DEFINE_ALL_FORMS(floor_divide, (const Tensor& other),
                        pointwise(fn::FloorDivide{}, self, nonzero_divisor(self, other)))
HEARTH_DEFINE_ALL_FORMS(floor_divide, (const Scalar& other),
                        pointwise(fn::FloorDivide{}, self,
                                  nonzero_divisor(self, wrapped_number(other))))
#define HEARTH_DEFINE_REMAINDER(name, Functor, info)                                             \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other),                                           \
                          pointwise_as<info>(fn::Functor{}, self, nonzero_divisor(self, other))) \
  HEARTH_DEFINE_ALL_FORMS(                                                                       \
      name, (const Scalar& other),                                                               \
      pointwise(fn::Functor{}, self, nonzero_divisor(self, wrapped_number(other))))
HEARTH_DEFINE_REMAINDER(remainder, Remainder, kRemainderTensor)
HEARTH_DEFINE_REMAINDER(fmod, Fmod, kFmodTensor)
#undef HEARTH_DEFINE_REMAINDER

Tensor remainder(const Scalar& self, const Tensor& other) {
  return remainder(wrapped_number(self), other);
}
Tensor& remainder_out(Tensor& out, const Scalar& self, const Tensor& other) {
  return remainder_out(out, wrapped_number(self), other);
}
HEARTH_DEFINE_ALL_FORMS(reciprocal, (), pointwise(fn::Reciprocal{}, self))

}  // namespace hearth
