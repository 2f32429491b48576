#pragma once

#include "functors/families.h"

/// The special functions that share one kernel, of one and of two numbers: X(name) stands for
/// fn::special::name(double) or name(double, double).
#define HEARTH_SPECIAL_UNARY(X) \
  X(airy_ai)                    \
  X(bessel_j0)                  \
  X(bessel_j1)                  \
  X(bessel_y0)                  \
  X(bessel_y1)                  \
  X(digamma)                    \
  X(erfcx)                      \
  X(i0)                         \
  X(i0e)                        \
  X(i1)                         \
  X(i1e)                        \
  X(lgamma)                     \
  X(log_ndtr)                   \
  X(modified_bessel_k0)         \
  X(modified_bessel_k1)         \
  X(ndtri)                      \
  X(scaled_modified_bessel_k0)  \
  X(scaled_modified_bessel_k1)  \
  X(spherical_bessel_j0)
#define HEARTH_SPECIAL_BINARY(X)    \
  X(chebyshev_polynomial_t)         \
  X(chebyshev_polynomial_u)         \
  X(chebyshev_polynomial_v)         \
  X(chebyshev_polynomial_w)         \
  X(hermite_polynomial_h)           \
  X(hermite_polynomial_he)          \
  X(igamma)                         \
  X(igammac)                        \
  X(laguerre_polynomial_l)          \
  X(legendre_polynomial_p)          \
  X(polygamma)                      \
  X(shifted_chebyshev_polynomial_t) \
  X(shifted_chebyshev_polynomial_u) \
  X(shifted_chebyshev_polynomial_v) \
  X(shifted_chebyshev_polynomial_w) \
  X(zeta)                           \
  X(nextafter)                      \
  X(nextafter_bfloat16)             \
  X(nextafter_float)                \
  X(nextafter_half)

namespace hearth::fn {

/// The number of a special function.
enum class Special : int {
#define HEARTH_SPECIAL_NUMBER(name) name,
  HEARTH_SPECIAL_UNARY(HEARTH_SPECIAL_NUMBER) HEARTH_SPECIAL_BINARY(HEARTH_SPECIAL_NUMBER)
#undef HEARTH_SPECIAL_NUMBER
};

/// In OpRecord::functor, the numbers of special functions follow the numbers of all families.
inline constexpr int kFirstSpecial = kFamilyCount << kFamilyBits;
HEARTH_FN int number_of_special(Special function) {
  return kFirstSpecial + static_cast<int>(function);
}
HEARTH_FN Special special_of(int functor) { return static_cast<Special>(functor - kFirstSpecial); }

}  // namespace hearth::fn
