#pragma once

#include "c10/core/ScalarType.h"

namespace at {

/// The type in which an operator computes elements of type T.
template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<Half> {
  using type = float;
};
template <>
struct OpMathType<BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

inline ScalarType toOpMathType(ScalarType type) {
  return type == kHalf || type == kBFloat16 ? kFloat : type;
}

}  // namespace at
