#include "functors/compare.h"
#include "hearth/autograd.h"
#include "ops/define.h"
#include "ops/pointwise_named.h"

namespace hearth {

HEARTH_DEFINE_BINARY(eq, Eq)
HEARTH_DEFINE_BINARY(ne, Ne)
HEARTH_DEFINE_BINARY(not_equal, Ne)
HEARTH_DEFINE_BINARY(lt, Lt)
HEARTH_DEFINE_BINARY(less, Lt)
HEARTH_DEFINE_BINARY(le, Le)
HEARTH_DEFINE_BINARY(less_equal, Le)
HEARTH_DEFINE_BINARY(gt, Gt)
HEARTH_DEFINE_BINARY(greater, Gt)
HEARTH_DEFINE_BINARY(ge, Ge)
HEARTH_DEFINE_BINARY(greater_equal, Ge)

HEARTH_DEFINE_METHOD(Tensor, isnan, (), pointwise(fn::IsNan{}, self).call())
HEARTH_DEFINE_METHOD(Tensor, isinf, (), pointwise(fn::IsInf{}, self).call())
HEARTH_DEFINE_METHOD(Tensor, isfinite, (), pointwise(fn::IsFinite{}, self).call())
HEARTH_DEFINE_OUT(isposinf, (), pointwise(fn::IsPosInf{}, self))
HEARTH_DEFINE_OUT(isneginf, (), pointwise(fn::IsNegInf{}, self))
HEARTH_DEFINE_OUT(signbit, (), pointwise(fn::SignBit{}, self))

namespace {

bool tensors_equal(const Tensor& a, const Tensor& b) {
  check_same_device("equal", "other", a.device(), b.device());
  if (!a.sizes().equals(b.sizes())) return false;
  const AutoGradMode off(false);
  return a.numel() == 0 || a.eq(b).all().item<bool>();
}

/// Whether the elements are equal, both are NaN (with `equal_nan`), or their difference is finite
/// and at most atol + rtol * |b|.
Tensor close(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  check_same_device("isclose", "other", a.device(), b.device());
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(), name_of(a.scalar_type()), " did not match ",
               name_of(b.scalar_type()));
  HEARTH_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  HEARTH_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  const AutoGradMode off(false);
  Tensor result = a.eq(b);
  if (equal_nan) result = result.logical_or(a.isnan().logical_and(b.isnan()));
  if (rtol == 0 && atol == 0) return result;
  // PyTorch rounds integers to the default dtype before it subtracts them.
  const ScalarType type =
      is_differentiable(a.scalar_type()) ? a.scalar_type() : get_default_dtype_as_scalartype();
  const Tensor y = b.to(type), difference = a.to(type).sub(y).abs();
  const Tensor allowed = y.abs().mul(rtol).add(atol);
  return result.logical_or(difference.le(allowed).logical_and(difference.isfinite()));
}

}  // namespace

HEARTH_DEFINE_METHOD(bool, equal, (const Tensor& other), tensors_equal(self, other))
HEARTH_DEFINE_METHOD(bool, allclose,
                     (const Tensor& other, double rtol, double atol, bool equal_nan),
                     close(self, other, rtol, atol, equal_nan).all().item<bool>())
HEARTH_DEFINE_METHOD(Tensor, isclose,
                     (const Tensor& other, double rtol, double atol, bool equal_nan),
                     close(self, other, rtol, atol, equal_nan))

}  // namespace hearth
