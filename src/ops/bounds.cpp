#include "functors/bounds.h"

#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

namespace {

using Bound = std::optional<Scalar>;
using TensorBound = std::optional<Tensor>;

/// The nearest number that integers of this dtype have.
Scalar saturated(const Scalar& number, ScalarType type) {
  if (!is_integral(type, false) || type == kLong || !number.isIntegral(false)) return number;
  const int bits = int(8 * element_size(type)) - (type != kByte);
  const int64_t most = (int64_t(1) << bits) - 1, least = type == kByte ? 0 : -most - 1;
  return std::min(std::max(number.toLong(), least), most);
}

Tensor bound(const Tensor& self, const Bound& number) {
  return number ? wrapped_number(saturated(*number, self.scalar_type())) : Tensor();
}
const Tensor& bound(const Tensor&, const TensorBound& tensor) {
  static const Tensor none;
  return tensor ? *tensor : none;
}

/// Clamps with whichever of the bounds are there.
template <class Both, class Min, class Max>
auto clamped(const Tensor& self, const Tensor& min, const Tensor& max) {
  HEARTH_CHECK(min.defined() || max.defined(),
               "torch.clamp: At least one of 'min' or 'max' must not be None");
  return pick(!max.defined(), pointwise(Min{}, self, min),
              pick(!min.defined(), pointwise(Max{}, self, max), pointwise(Both{}, self, min, max)));
}
constexpr auto by_numbers = &clamped<fn::ClampNumbers, fn::ClampMinNumber, fn::ClampMaxNumber>;
constexpr auto by_tensors = &clamped<fn::Clamp, fn::ClampMin, fn::ClampMax>;

}  // namespace

HEARTH_DEFINE_OUT(maximum, (const Tensor& other), pointwise(fn::Maximum{}, self, other))
HEARTH_DEFINE_OUT(minimum, (const Tensor& other), pointwise(fn::Minimum{}, self, other))
HEARTH_DEFINE_OUT(fmax, (const Tensor& other), pointwise(fn::Fmax{}, self, other))
HEARTH_DEFINE_OUT(fmin, (const Tensor& other), pointwise(fn::Fmin{}, self, other))

#define HEARTH_DEFINE_CLAMP(name)                                                 \
  HEARTH_DEFINE_POINTWISE(name, (const Bound& min, const Bound& max),             \
                          by_numbers(self, bound(self, min), bound(self, max)))   \
  HEARTH_DEFINE_POINTWISE(name, (const TensorBound& min, const TensorBound& max), \
                          by_tensors(self, bound(self, min), bound(self, max)))
HEARTH_DEFINE_CLAMP(clamp)
HEARTH_DEFINE_CLAMP(clip)
#undef HEARTH_DEFINE_CLAMP

HEARTH_DEFINE_POINTWISE(clamp_min, (const Scalar& min),
                        pointwise(fn::ClampMinNumber{}, self, bound(self, Bound(min))))
HEARTH_DEFINE_POINTWISE(clamp_min, (const Tensor& min), pointwise(fn::ClampMin{}, self, min))
HEARTH_DEFINE_POINTWISE(clamp_max, (const Scalar& max),
                        pointwise(fn::ClampMaxNumber{}, self, bound(self, Bound(max))))
HEARTH_DEFINE_POINTWISE(clamp_max, (const Tensor& max), pointwise(fn::ClampMax{}, self, max))

}  // namespace hearth
