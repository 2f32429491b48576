#pragma once

#include <type_traits>

#include "c10/core/ScalarType.h"
#include "hearth/half.h"

namespace at {

/// The type in which an operator computes elements of type T.
template <class T>
struct OpMathType {
  using type = std::conditional_t<hearth::detail::HalfNumber<T>, float, T>;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

inline ScalarType toOpMathType(ScalarType type) { return is_reduced_float(type) ? kFloat : type; }

}  // namespace at
