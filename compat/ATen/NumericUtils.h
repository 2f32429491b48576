#pragma once

#include <cmath>
#include <type_traits>

#include "c10/core/ScalarType.h"

namespace at {

/// Tests of any element type: integers are neither NaN nor infinite.
template <class T>
bool _isnan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (std::is_convertible_v<T, float>)
    return std::isnan(
        static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  else
    return std::isnan(value.real()) || std::isnan(value.imag());
}
template <class T>
bool _isinf(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isinf(
        static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
}

}  // namespace at
