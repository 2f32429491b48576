#pragma once

#include <algorithm>
#include <cstdint>

#include "ATen/OpMathType.h"
#include "ATen/cpu/vec/vec.h"

// Loops over arrays, with operations on Vectorized numbers; on those of float for the half types.
namespace at::vec {

/// Combines the first `size` numbers of a register.
template <class T, class Op>
T vec_reduce_all(const Op& op, Vectorized<T> values, int64_t size = Vectorized<T>::size()) {
  for (int64_t i = 1; i < size; ++i) {
    Vectorized<T> first(values[0]), next(values[static_cast<int>(i)]);
    values[0] = op(first, next)[0];
  }
  return values[0];
}

/// Numbers `begin` to `begin` + `count` of an array.
template <class T>
Vectorized<opmath_type<T>> loaded(const T* data, int64_t begin, int64_t count) {
  Vectorized<opmath_type<T>> values;
  for (int i = 0; i < count; ++i) values[i] = data[begin + i];
  return values;
}

/// Calls f(begin, count) for parts of an array that fill a register, and for the rest.
template <class T, class F>
void for_each_register(int64_t size, const F& f) {
  constexpr int64_t kWidth = Vectorized<opmath_type<T>>::size();
  for (int64_t begin = 0; begin < size; begin += kWidth) f(begin, std::min(kWidth, size - begin));
}

/// output[i] = op(inputs[i]…)
template <class T, class Op, class... Inputs>
void map_registers(const Op& op, T* output, int64_t size, const Inputs*... inputs) {
  for_each_register<T>(size, [&](int64_t begin, int64_t count) {
    const auto result = op(loaded(inputs, begin, count)...);
    for (int i = 0; i < count; ++i) output[begin + i] = static_cast<T>(result[i]);
  });
}
template <class T, class Op>
void map(const Op& op, T* output, const T* input, int64_t size) {
  map_registers(op, output, size, input);
}
template <class T, class Op>
void map2(const Op& op, T* output, const T* a, const T* b, int64_t size) {
  map_registers(op, output, size, a, b);
}
template <class T, class Op>
void map3(const Op& op, T* output, const T* a, const T* b, const T* c, int64_t size) {
  map_registers(op, output, size, a, b, c);
}

/// Combines map(inputs[i]…) for all i by `reduce`.
template <class T, class Map, class Reduce, class... Inputs>
opmath_type<T> map_and_reduce(const Map& map, const Reduce& reduce, int64_t size,
                              const Inputs*... inputs) {
  using Values = Vectorized<opmath_type<T>>;
  Values total;
  int64_t filled = 0;
  for_each_register<T>(size, [&](int64_t begin, int64_t count) {
    Values values = map(loaded(inputs, begin, count)...);
    total = filled == 0 ? values : Values::set(total, reduce(total, values), count);
    filled = std::max(filled, count);
  });
  return vec_reduce_all(reduce, total, filled);
}
template <class T, class Op>
opmath_type<T> reduce_all(const Op& op, const T* data, int64_t size) {
  return map_and_reduce<T>([](const auto& values) { return values; }, op, size, data);
}
template <class T, class Map, class Reduce>
opmath_type<T> map_reduce_all(const Map& map, const Reduce& reduce, const T* data, int64_t size) {
  return map_and_reduce<T>(map, reduce, size, data);
}
template <class T, class Map, class Reduce>
opmath_type<T> map2_reduce_all(const Map& map, const Reduce& reduce, const T* a, const T* b,
                               int64_t size) {
  return map_and_reduce<T>(map, reduce, size, a, b);
}

}  // namespace at::vec
