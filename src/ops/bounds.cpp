#include "functors/bounds.h"

#include "ops/define.h"
#include "ops/pointwise_named.h"
#include "ops/saturate.h"

namespace hearth {

namespace {

using Bound = std::optional<Scalar>;
using TensorBound = std::optional<Tensor>;

/// Returns a bound for a tensor of the given dtype. If both are integers, that is the dtype's
/// integer nearest to the bound. Throws if the bound excludes all integers of the dtype or
/// overflows a floating dtype.
Scalar fitting(const Scalar& number, ScalarType type, const char* name) {
  if (is_floating_point(type) && !number.isComplex()) (void)number.stored_as(type);
  if (!is_integral(type, false) || !number.isIntegral(false)) return number;
  const IntegerRange range(type);
  const int64_t value = number.toLong();
  const bool is_min = name[1] == 'i';  // "min", not "max"
  HEARTH_CHECK(is_min ? value <= range.largest : value >= range.smallest, "Clamp ", name, " value ",
               double(value), " is outside the representable range of ", name_of(type));
  return range.nearest(value);
}

/// A bound of clamp as a tensor, undefined if it is not given.
Tensor bound(const Tensor& self, const Bound& number, const char* name) {
  return number ? wrapped_number(fitting(*number, self.scalar_type(), name)) : Tensor();
}
Tensor bound(const Tensor&, const TensorBound& tensor, const char*) { return or_undefined(tensor); }

constexpr OpInfo kClampNumbers = with_node(fn::ClampNumbers::info, "ClampBackward1"),
                 kOnlyMinNumber = with_node(fn::ClampMinNumber::info, "ClampBackward1"),
                 kOnlyMaxNumber = with_node(fn::ClampMaxNumber::info, "ClampBackward1"),
                 kOnlyMin = with_node(fn::ClampMin::info, "Clamp"),
                 kOnlyMax = with_node(fn::ClampMax::info, "Clamp"),
                 kClampMin = with_node(fn::ClampMin::info, "ClampMinBackward1"),
                 kClampMax = with_node(fn::ClampMax::info, "ClampMaxBackward1");

/// Clamps to min and max, one of which may be undefined.
template <const OpInfo& both, const OpInfo& only_min, const OpInfo& only_max, class Both, class Min,
          class Max>
auto clamped(const Tensor& self, const Tensor& min, const Tensor& max) {
  HEARTH_CHECK(min.defined() || max.defined(),
               "torch.clamp: At least one of 'min' or 'max' must not be None");
  return pick(!max.defined(), pointwise_as<only_min>(Min{}, self, min),
              pick(!min.defined(), pointwise_as<only_max>(Max{}, self, max),
                   pointwise_as<both>(Both{}, self, min, max)));
}
constexpr auto by_numbers = &clamped<kClampNumbers, kOnlyMinNumber, kOnlyMaxNumber,
                                     fn::ClampNumbers, fn::ClampMinNumber, fn::ClampMaxNumber>;
constexpr auto by_tensors =
    &clamped<fn::Clamp::info, kOnlyMin, kOnlyMax, fn::Clamp, fn::ClampMin, fn::ClampMax>;

}  // namespace

HEARTH_DEFINE_OUT(maximum, (const Tensor& other), pointwise(fn::Maximum{}, self, other))
HEARTH_DEFINE_OUT(minimum, (const Tensor& other), pointwise(fn::Minimum{}, self, other))
HEARTH_DEFINE_OUT(fmax, (const Tensor& other), pointwise(fn::Fmax{}, self, other))
HEARTH_DEFINE_OUT(fmin, (const Tensor& other), pointwise(fn::Fmin{}, self, other))

#define HEARTH_DEFINE_CLAMP(name)                                                             \
  HEARTH_DEFINE_ALL_FORMS(name, (const Bound& min, const Bound& max),                         \
                          by_numbers(self, bound(self, min, "min"), bound(self, max, "max"))) \
  HEARTH_DEFINE_ALL_FORMS(name, (const TensorBound& min, const TensorBound& max),             \
                          by_tensors(self, bound(self, min, "min"), bound(self, max, "max")))
HEARTH_DEFINE_CLAMP(clamp)
HEARTH_DEFINE_CLAMP(clip)
#undef HEARTH_DEFINE_CLAMP

HEARTH_DEFINE_ALL_FORMS(clamp_min, (const Scalar& min),
                        pointwise(fn::ClampMinNumber{}, self, bound(self, Bound(min), "min")))
HEARTH_DEFINE_ALL_FORMS(clamp_min, (const Tensor& min),
                        pointwise_as<kClampMin>(fn::ClampMin{}, self, min))
HEARTH_DEFINE_ALL_FORMS(clamp_max, (const Scalar& max),
                        pointwise(fn::ClampMaxNumber{}, self, bound(self, Bound(max), "max")))
HEARTH_DEFINE_ALL_FORMS(clamp_max, (const Tensor& max),
                        pointwise_as<kClampMax>(fn::ClampMax{}, self, max))

}  // namespace hearth
