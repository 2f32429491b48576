#pragma once

#include "functors/special.h"
#include "functors/special_bessel.h"
#include "functors/special_error.h"
#include "functors/special_gamma.h"
#include "functors/special_igamma.h"
#include "functors/special_nextafter.h"
#include "functors/special_polynomial.h"

namespace hearth::fn {

/// The value of a special function at a, or at (a, b).
HEARTH_SCALAR double special_value(Special function, double a, double b) {
  switch (function) {
#define HEARTH_SPECIAL_VALUE(name) \
  case Special::name: return special::name(a);
    HEARTH_SPECIAL_UNARY(HEARTH_SPECIAL_VALUE)
#undef HEARTH_SPECIAL_VALUE
#define HEARTH_SPECIAL_VALUE(name) \
  case Special::name: return special::name(a, b);
    HEARTH_SPECIAL_BINARY(HEARTH_SPECIAL_VALUE)
#undef HEARTH_SPECIAL_VALUE
  }
  return NAN;
}

}  // namespace hearth::fn
