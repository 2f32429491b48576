#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>

#include "c10/namespaces.h"

namespace c10 {

/// The integers [first, last), for range loops.
template <std::integral I>
class integer_range {
 public:
  struct iterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    using pointer = const I*;
    using reference = I;
    I operator*() const { return value; }
    iterator& operator++() {
      ++value;
      return *this;
    }
    iterator operator++(int) { return {value++}; }
    bool operator==(const iterator&) const = default;
    I value;
  };
  integer_range(I first, I last) : first_(first), last_(last) {}
  iterator begin() const { return {first_}; }
  iterator end() const { return {last_}; }

 private:
  I first_, last_;
};

/// 0 … last - 1; empty when last is negative.
template <std::integral I>
integer_range<I> irange(I last) {
  return {I(), last < I() ? I() : last};
}
/// first … last - 1, of last's type; empty when last < first.
template <std::integral First, std::integral Last>
integer_range<Last> irange(First first, Last last) {
  const auto start = static_cast<Last>(first);
  return {start, last < start ? start : last};
}

}  // namespace c10
