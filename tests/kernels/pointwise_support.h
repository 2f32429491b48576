#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "functors/traits.h"
#include "kernels/cpu/pointwise_table.h"

namespace hearth::testing {

/// The tables of all instruction sets that this processor supports.
inline std::vector<const cpu::PointwiseTable*> tables() {
  std::vector<const cpu::PointwiseTable*> result;
  for (const auto level : {cpu::IsaLevel::kGeneric, cpu::IsaLevel::kAvx2, cpu::IsaLevel::kAvx512})
    if (cpu::supports(level)) result.push_back(cpu::pointwise_table(level));
  return result;
}

/// A strided operand; strides in elements.
inline Operand operand(void* data, ScalarType dtype, const std::vector<int64_t>& strides) {
  Operand result;
  result.data = data;
  result.dtype = dtype;
  std::copy(strides.begin(), strides.end(), result.strides);
  return result;
}

/// A number as an operand, equal for all elements.
template <class T>
Operand number(T value) {
  Operand result;
  result.dtype = dtype_of<T>;
  result.is_number = true;
  std::memcpy(result.number, &value, sizeof value);
  return result;
}

template <class F>
PointwiseParams params(const F& functor, Formula formula, ScalarType compute,
                       const std::vector<int64_t>& sizes, const Operand& out,
                       const std::vector<Operand>& in) {
  static_assert(sizeof(F) <= kFunctorBytes);
  PointwiseParams p;
  p.functor = fn::number_of<F>;
  p.formula = formula;
  p.compute = compute;
  p.inputs = static_cast<int8_t>(in.size());
  p.dim = static_cast<int8_t>(sizes.size());
  p.numel = 1;
  for (size_t d = 0; d < sizes.size(); ++d) p.numel *= p.sizes[d] = sizes[d];
  p.out = out;
  std::copy(in.begin(), in.end(), p.in);
  std::memcpy(p.parameters, &functor, sizeof functor);
  return p;
}

/// Applies a functor's formula to contiguous arrays of T; the result has dtype R.
template <class T, class R = T, class F>
std::vector<R> apply(const cpu::PointwiseTable& table, const F& functor, Formula formula,
                     const std::vector<std::vector<T>>& in) {
  const auto n = static_cast<int64_t>(in[0].size());
  std::vector<R> out(in[0].size());
  std::vector<Operand> operands;
  for (const auto& values : in)
    operands.push_back(operand(const_cast<T*>(values.data()), dtype_of<T>, {1}));
  cpu::run_with(table, params(functor, formula, dtype_of<T>, {n},
                              operand(out.data(), dtype_of<R>, {1}), operands));
  return out;
}

/// The distance of `got` from the exact value in units in the last place of T; 0 if both are NaN.
template <class T>
double ulps(T got, long double exact) {
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) == std::isnan(exact) ? 0 : HUGE_VAL;
  const T rounded = static_cast<T>(exact);
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : HUGE_VAL;
  if (std::isinf(got) || std::isinf(rounded)) {
    // Next to the largest number, infinity counts as its successor.
    const T finite = std::isinf(got) ? rounded : got;
    return std::abs(finite) == std::numeric_limits<T>::max() ? 1 : HUGE_VAL;
  }
  const T magnitude = std::abs(rounded);
  const T step = magnitude < std::numeric_limits<T>::min()
                     ? std::numeric_limits<T>::denorm_min()
                     : std::ldexp(std::numeric_limits<T>::epsilon(), std::ilogb(magnitude));
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / step);
}

/// Values of both signs at which functions often fail, such as zeros, halves, the largest arguments
/// of exp (88.7 and 709.7), denormals, limits, infinities and NaN.
template <class T>
std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> result{0, T(0.5), 1,        T(1.5),  2,       T(2.5),  3,
                        7, T(0.1), T(1e-10), T(1e10), T(88.7), T(709.7)};
  for (const T v : {L::min(), L::denorm_min(), T(L::min() / 2), L::max(), L::infinity(),
                    L::epsilon(), T(1 + L::epsilon()), T(1 - L::epsilon())})
    result.push_back(v);
  for (size_t i = 0, n = result.size(); i < n; ++i) result.push_back(-result[i]);
  result.push_back(L::quiet_NaN());
  return result;
}

/// Random numbers: half of them uniform in [low, high], half with random bits.
template <class T>
std::vector<T> random_values(size_t count, double low, double high, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> result;
  for (size_t i = 0; i < count / 2; ++i) {
    result.push_back(static_cast<T>(uniform(generator)));
    const uint64_t bits = generator();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    result.push_back(value);
  }
  return result;
}

}  // namespace hearth::testing
