#pragma once

#include <cmath>

namespace c10 {

/// a / b, rounded down.
template <class T>
T div_floor_integer(T a, T b) {
  const T quotient = a / b;
  return (a < 0) != (b < 0) && a % b != 0 ? quotient - 1 : quotient;
}

}  // namespace c10
