// The derivatives of the special functions, composed of other ops.
#include "hearth/operators.h"
#include "ops/special.h"

namespace hearth {

namespace {

using fn::Special;

constexpr double kTwoInvSqrtPi = 1.12837916709551257390, kSqrtHalf = 0.70710678118654752440,
                 kSqrtTwoPi = 2.50662827463100050242;

Tensor number_like(double value, const Tensor& x) { return full({}, value, x.options()); }

/// Returns slope(x), the derivative of a function; near 0, where slope divides 0 by 0, its limit
/// 1/2.
template <class F>
Tensor half_at_zero(const Tensor& x, const F& slope) {
  const double eps = x.scalar_type() == kDouble ? 0x1p-52 : 0x1p-23;
  const Tensor tiny = x.abs().le(eps);
  const Tensor safe = where(tiny, number_like(1, x), x);
  return where(tiny, number_like(0.5, x), slope(safe));
}

/// The derivative of a function of one number.
Tensor slope_of(Special function, const Tensor& x) {
  switch (function) {
    case Special::bessel_j0: return -special_bessel_j1(x);
    case Special::bessel_j1:
      return half_at_zero(
          x, [](const Tensor& t) { return special_bessel_j0(t) - special_bessel_j1(t) / t; });
    case Special::bessel_y0: return -special_bessel_y1(x);
    case Special::bessel_y1:
      return (special_bessel_y0(x) - special_bessel_y1(x) / x).masked_fill(x.eq(0), INFINITY);
    case Special::digamma: return polygamma(1, x);
    case Special::erfcx: return 2 * x * special_erfcx(x) - kTwoInvSqrtPi;
    case Special::i0: return special_i1(x);
    case Special::i0e: return special_i1e(x) - x.sgn() * special_i0e(x);
    case Special::i1:
      return half_at_zero(x, [](const Tensor& t) { return i0(t) - special_i1(t) / t; });
    case Special::i1e:
      return half_at_zero(x, [](const Tensor& t) {
        return special_i0e(t) - special_i1e(t) * (t.sgn() + t.reciprocal());
      });
    case Special::lgamma: return digamma(x);
    case Special::log_ndtr: {
      // Each form is finite, with finite derivatives, on its side of 0.
      const Tensor is_right = x.gt(0), left = x.masked_fill(is_right, 0),
                   right = x.masked_fill(is_right.logical_not(), 0);
      return where(is_right, (right.square() * -0.5 - special_log_ndtr(right)).exp() / kSqrtTwoPi,
                   kTwoInvSqrtPi * kSqrtHalf / special_erfcx(-kSqrtHalf * left));
    }
    case Special::modified_bessel_k0: return -special_modified_bessel_k1(x);
    case Special::modified_bessel_k1:
      return -special_modified_bessel_k0(x) - special_modified_bessel_k1(x) / x;
    default: return kSqrtTwoPi * (0.5 * special_ndtri(x).square()).exp();  // ndtri
  }
}

[[noreturn]] void refuse_derivative(const char* of) {
  detail::fail<NotImplementedError>("the derivative for '", of, "' is not implemented.");
}

/// The derivative in x of the regularized lower incomplete gamma function.
Tensor igamma_slope(const Tensor& a, const Tensor& x) {
  return ((a - 1) * x.log() - x - lgamma(a)).exp();
}

/// The derivative in input i of a function of (a, b).
Tensor slope_of(Special function, int i, const Tensor& a, const Tensor& b) {
  switch (function) {
    case Special::igamma:
      if (i == 0) refuse_derivative("igamma: input");
      return igamma_slope(a, b);
    case Special::igammac:
      if (i == 0) refuse_derivative("igammac: input");
      return -igamma_slope(a, b);
    case Special::nextafter:
    case Special::nextafter_bfloat16:
    case Special::nextafter_float:
    case Special::nextafter_half: return i == 0 ? a.ne(b) : zeros_like(a.ne(b));
    case Special::polygamma: return polygamma(b.item<int64_t>() + 1, a);
    default:
      if (i == 0) refuse_derivative("zeta");
      return -a * special_zeta(a + 1, b);
  }
}

}  // namespace

void grad_special(const OpRecord& op, const void*, GradContext& context) {
  const auto widened = [](const Tensor& t) {
    return is_reduced_float(t.scalar_type()) ? t.to(kFloat) : t;
  };
  const Special function = fn::special_of(op.functor);
  const Tensor& g = context.grad();
  for (int i = 0; i < context.inputs(); ++i) {
    if (!context.needs(i)) continue;
    const Tensor a = widened(context.in(0));
    const Tensor slope = context.inputs() == 1 ? slope_of(function, a)
                                               : slope_of(function, i, a, widened(context.in(1)));
    context.set(i, widened(g).mul(slope).to(g.scalar_type()));
  }
}

}  // namespace hearth
