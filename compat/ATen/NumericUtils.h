#pragma once

#include <cmath>
#include <type_traits>

#include "ATen/OpMathType.h"

namespace at {

/// Tests of any element type: integers are neither NaN nor infinite.
template <class T>
bool _isnan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (std::is_convertible_v<T, float>)
    return std::isnan(static_cast<opmath_type<T>>(value));
  else
    return std::isnan(value.real()) || std::isnan(value.imag());
}
template <class T>
bool _isinf(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isinf(static_cast<opmath_type<T>>(value));
}

}  // namespace at
