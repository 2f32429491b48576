#pragma once

#include <cstdint>
#include <type_traits>

#include "ATen/OpMathType.h"

namespace at {

/// The type in which sums of elements of type T are computed: int64_t for integers, and on the CPU
/// double for float.
template <class T, bool is_cuda>
struct AccumulateType {
  using type =
      std::conditional_t<std::is_same_v<T, float> && !is_cuda, double,
                         std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                            int64_t, opmath_type<T>>>;
};
template <class T, bool is_cuda>
struct AccumulateType<hearth::complex<T>, is_cuda> {
  using type = hearth::complex<typename AccumulateType<T, is_cuda>::type>;
};
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

}  // namespace at
