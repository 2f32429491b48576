#pragma once

#include <utility>

namespace c10 {

namespace detail {
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
}  // namespace detail

/// A function object with the overloads of all arguments, for std::visit.
template <class... F>
auto overloaded(F... functions) {
  return detail::Overloaded<F...>{std::move(functions)...};
}

}  // namespace c10
