#pragma once

#include "hearth/tensor.h"

/// The special functions as in Python's torch.special: special::erf(x) is special_erf(x). Their
/// descriptions are in hearth/ops/special.inc.
namespace hearth::special {

#define HEARTH_SPECIAL(name)                                              \
  inline Tensor name(const Tensor& self) { return special_##name(self); } \
  inline Tensor& name##_out(Tensor& result, const Tensor& self) {         \
    return special_##name##_out(result, self);                            \
  }
HEARTH_SPECIAL(airy_ai)
HEARTH_SPECIAL(bessel_j0)
HEARTH_SPECIAL(bessel_j1)
HEARTH_SPECIAL(bessel_y0)
HEARTH_SPECIAL(bessel_y1)
HEARTH_SPECIAL(digamma)
HEARTH_SPECIAL(entr)
HEARTH_SPECIAL(erf)
HEARTH_SPECIAL(erfc)
HEARTH_SPECIAL(erfcx)
HEARTH_SPECIAL(erfinv)
HEARTH_SPECIAL(exp2)
HEARTH_SPECIAL(expit)
HEARTH_SPECIAL(expm1)
HEARTH_SPECIAL(gammaln)
HEARTH_SPECIAL(i0)
HEARTH_SPECIAL(i0e)
HEARTH_SPECIAL(i1)
HEARTH_SPECIAL(i1e)
HEARTH_SPECIAL(log1p)
HEARTH_SPECIAL(log_ndtr)
HEARTH_SPECIAL(logit)
HEARTH_SPECIAL(modified_bessel_i0)
HEARTH_SPECIAL(modified_bessel_i1)
HEARTH_SPECIAL(modified_bessel_k0)
HEARTH_SPECIAL(modified_bessel_k1)
HEARTH_SPECIAL(ndtr)
HEARTH_SPECIAL(ndtri)
HEARTH_SPECIAL(psi)
HEARTH_SPECIAL(round)
HEARTH_SPECIAL(scaled_modified_bessel_k0)
HEARTH_SPECIAL(scaled_modified_bessel_k1)
HEARTH_SPECIAL(sinc)
HEARTH_SPECIAL(spherical_bessel_j0)
#undef HEARTH_SPECIAL

#define HEARTH_SPECIAL(name, A, B)                                                          \
  inline Tensor name(const A& self, const B& other) { return special_##name(self, other); } \
  inline Tensor& name##_out(Tensor& result, const A& self, const B& other) {                \
    return special_##name##_out(result, self, other);                                       \
  }
#define HEARTH_SPECIAL_WITH_NUMBERS(name) \
  HEARTH_SPECIAL(name, Tensor, Tensor)    \
  HEARTH_SPECIAL(name, Scalar, Tensor)    \
  HEARTH_SPECIAL(name, Tensor, Scalar)
HEARTH_SPECIAL(gammainc, Tensor, Tensor)
HEARTH_SPECIAL(gammaincc, Tensor, Tensor)
HEARTH_SPECIAL_WITH_NUMBERS(xlogy)
HEARTH_SPECIAL_WITH_NUMBERS(xlog1py)
HEARTH_SPECIAL_WITH_NUMBERS(zeta)
HEARTH_SPECIAL_WITH_NUMBERS(chebyshev_polynomial_t)
HEARTH_SPECIAL_WITH_NUMBERS(chebyshev_polynomial_u)
HEARTH_SPECIAL_WITH_NUMBERS(chebyshev_polynomial_v)
HEARTH_SPECIAL_WITH_NUMBERS(chebyshev_polynomial_w)
HEARTH_SPECIAL_WITH_NUMBERS(hermite_polynomial_h)
HEARTH_SPECIAL_WITH_NUMBERS(hermite_polynomial_he)
HEARTH_SPECIAL_WITH_NUMBERS(laguerre_polynomial_l)
HEARTH_SPECIAL_WITH_NUMBERS(legendre_polynomial_p)
HEARTH_SPECIAL_WITH_NUMBERS(shifted_chebyshev_polynomial_t)
HEARTH_SPECIAL_WITH_NUMBERS(shifted_chebyshev_polynomial_u)
HEARTH_SPECIAL_WITH_NUMBERS(shifted_chebyshev_polynomial_v)
HEARTH_SPECIAL_WITH_NUMBERS(shifted_chebyshev_polynomial_w)
#undef HEARTH_SPECIAL_WITH_NUMBERS
#undef HEARTH_SPECIAL

inline Tensor polygamma(int64_t n, const Tensor& self) { return special_polygamma(n, self); }
inline Tensor& polygamma_out(Tensor& result, int64_t n, const Tensor& self) {
  return special_polygamma_out(result, n, self);
}
inline Tensor multigammaln(const Tensor& self, int64_t p) { return special_multigammaln(self, p); }
inline Tensor& multigammaln_out(Tensor& result, const Tensor& self, int64_t p) {
  return special_multigammaln_out(result, self, p);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return special_logsumexp(self, dims, keepdim);
}
inline Tensor& logsumexp_out(Tensor& result, const Tensor& self, IntArrayRef dims, bool keepdim) {
  return special_logsumexp_out(result, self, dims, keepdim);
}
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return special_softmax(self, dim, dtype);
}
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return special_log_softmax(self, dim, dtype);
}

}  // namespace hearth::special
