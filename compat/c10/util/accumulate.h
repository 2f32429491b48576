#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>

#include "c10/util/Exception.h"

namespace c10 {

template <class Container>
int64_t sum_integers(const Container& values) {
  return std::accumulate(values.begin(), values.end(), int64_t(0));
}
template <class Iterator>
requires requires(Iterator it) { *it; }
int64_t sum_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t(0));
}
template <class Iterator>
requires requires(Iterator it) { *it; }
int64_t multiply_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t(1), std::multiplies<int64_t>());
}
template <class Container>
int64_t multiply_integers(const Container& values) {
  return multiply_integers(values.begin(), values.end());
}

/// The product of the sizes of dimensions [min(k, l), max(k, l)).
template <class Container>
int64_t numelements_between_dim(int k, int l, const Container& sizes) {
  const int first = k < l ? k : l, last = k < l ? l : k;
  TORCH_CHECK(first >= 0 && last <= static_cast<int>(sizes.size()), "dimensions ", k, " and ", l,
              " are not both in [0, ", sizes.size(), "]");
  return multiply_integers(sizes.begin() + first, sizes.begin() + last);
}
template <class Container>
int64_t numelements_from_dim(int k, const Container& sizes) {
  const int num_dims = static_cast<int>(sizes.size());
  return k > num_dims ? 1 : numelements_between_dim(k, num_dims, sizes);
}
template <class Container>
int64_t numelements_to_dim(int k, const Container& sizes) {
  return numelements_between_dim(0, k, sizes);
}

}  // namespace c10
