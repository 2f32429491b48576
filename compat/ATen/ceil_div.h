#pragma once

#include <concepts>

namespace at {

/// The quotient of positive integers, rounded up.
template <std::integral T>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
/// The least multiple of b that is not below a.
template <std::integral T>
constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

}  // namespace at
