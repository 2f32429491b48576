#pragma once

#include <type_traits>

#include "c10/util/Half.h"
#include "c10/util/complex.h"

namespace c10 {

/// The value as a To; a complex number loses its imaginary part if To is real.
template <class To, class From>
To convert(From value) {
  if constexpr (
      requires { typename From::value_type; } && !requires { typename To::value_type; })
    return static_cast<To>(value.real());
  else
    return static_cast<To>(value);
}

}  // namespace c10
