#pragma once

#include <numbers>

#include "c10/namespaces.h"

namespace c10 {

template <class T>
inline constexpr T e = T(std::numbers::e);
template <class T>
inline constexpr T euler = T(std::numbers::egamma);
template <class T>
inline constexpr T frac_1_pi = T(std::numbers::inv_pi);
template <class T>
inline constexpr T frac_1_sqrt_pi = T(std::numbers::inv_sqrtpi);
template <class T>
inline constexpr T frac_sqrt_2 = T(std::numbers::sqrt2 / 2);
template <class T>
inline constexpr T golden_ratio = T(std::numbers::phi);
template <class T>
inline constexpr T ln_10 = T(std::numbers::ln10);
template <class T>
inline constexpr T ln_2 = T(std::numbers::ln2);
template <class T>
inline constexpr T log_10_2 = T(std::numbers::ln2 / std::numbers::ln10);
template <class T>
inline constexpr T log_2_10 = T(std::numbers::ln10 / std::numbers::ln2);
template <class T>
inline constexpr T log_2_e = T(std::numbers::log2e);
template <class T>
inline constexpr T pi = T(std::numbers::pi);
template <class T>
inline constexpr T sqrt_2 = T(std::numbers::sqrt2);
template <class T>
inline constexpr T sqrt_3 = T(std::numbers::sqrt3);

}  // namespace c10
