#pragma once

// The blocks of a family of functors for complex numbers: plain loops over single numbers, compiled
// once for all instruction sets. Bound by memory for sums and products, else by the functions of
// the standard library. Included only by pointwise_complex_@family@.cpp.in.

#include <utility>

#include "functors/traits.h"
#include "kernels/cpu/complex_math.h"
#include "kernels/cpu/pointwise_table.h"

namespace hearth::cpu {

template <class T>
ComplexValue<T> load_value(const void* from, int64_t i) {
  const T* at = static_cast<const T*>(from) + 2 * i;
  return {at[0], at[1]};
}
template <class T>
void store_value(ComplexValue<T> x, void* to, int64_t i) {
  T* at = static_cast<T*>(to) + 2 * i;
  at[0] = x.re;
  at[1] = x.im;
}
template <class T>
void store_value(typename ComplexValue<T>::Mask x, void* to, int64_t i) {
  static_cast<bool*>(to)[i] = x.value;
}

/// A BlockFn: the functor's value.
template <class F, class T>
void complex_block(const void* functor, const void* const* in, void* out, int64_t n) {
  const F& f = *static_cast<const F*>(functor);
  const auto compute = [&]<size_t... k>(std::index_sequence<k...>) {
    for (int64_t i = 0; i < n; ++i) store_value<T>(f.value(load_value<T>(in[k], i)...), out, i);
  };
  compute(std::make_index_sequence<size_t(fn::arity<F>)>());
}

template <class F>
constexpr ComplexBlocks complex_blocks() {
  if constexpr (((F::info.dtypes | F::info.cpu_dtypes) & dtypes::kComplex) != 0)
    return {{complex_block<F, float>, complex_block<F, double>}};
  else
    return {};
}

template <class Family>
struct ComplexFamily;
template <class... F>
struct ComplexFamily<List<F...>> {
  static constexpr ComplexBlocks functors[] = {complex_blocks<F>()...};
};

}  // namespace hearth::cpu

/// Defines the complex blocks of the functors in fn::Family.
#define HEARTH_COMPLEX_FAMILY(Family)                                     \
  const ::hearth::cpu::ComplexBlocks* ::hearth::cpu::complex_##Family() { \
    return ComplexFamily<fn::Family>::functors;                           \
  }
