#pragma once

// The operators of scans, for host and device. A state describes a range of elements: start() is
// the state of an empty range, element(value, factor, index) the state of one element, and merge()
// combines the states of adjacent ranges (associative, not commutative). value() is the scan's
// result at the end of the range, index() the position of an extreme. A is the compute type.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "functors/hd.h"
#include "hearth/half.h"

namespace hearth::scan {

/// The type in which integers wrap around instead of overflowing.
template <class A, bool = std::is_integral_v<A> && !std::is_same_v<A, bool>>
struct WrapsIn {
  using type = A;
};
template <class A>
struct WrapsIn<A, true> {
  using type = std::conditional_t<sizeof(A) < 4, uint32_t, std::make_unsigned_t<A>>;
};
template <class A>
HEARTH_FN A plus(A a, A b) {
  using U = typename WrapsIn<A>::type;
  return A(U(a) + U(b));
}
template <class A>
HEARTH_FN A times(A a, A b) {
  using U = typename WrapsIn<A>::type;
  return A(U(a) * U(b));
}

/// The members of operators whose state is a value alone.
template <class A>
struct Plain {
  struct State {
    A value;
  };
  HEARTH_FN static State element(A x, A, int64_t) { return {x}; }
  HEARTH_FN static A value(State s) { return s.value; }
  HEARTH_FN static int64_t index(State) { return 0; }
};

template <class A>
struct Sum : Plain<A> {
  using typename Plain<A>::State;
  HEARTH_FN static State start() { return {A(0)}; }
  HEARTH_FN static State merge(State a, State b) { return {plus(a.value, b.value)}; }
};

template <class A>
struct Prod : Plain<A> {
  using typename Plain<A>::State;
  HEARTH_FN static State start() { return {A(1)}; }
  HEARTH_FN static State merge(State a, State b) { return {times(a.value, b.value)}; }
};

template <class A>
struct LogSumExp : Plain<A> {
  using typename Plain<A>::State;
  HEARTH_FN static State start() { return {A(-__builtin_huge_val())}; }
  HEARTH_FN static State merge(State a, State b) {
    const A high = a.value > b.value || a.value != a.value ? a.value : b.value;
    const A low = a.value > b.value || a.value != a.value ? b.value : a.value;
    if (low == high && low - high != 0) return {high};  // equal infinities
    return {high + std::log1p(std::exp(low - high))};
  }
};

/// y_i = element_i + factor_i * y_(i-1). The state of a range is the function y -> sum + factor * y
/// of the value before it.
template <class A>
struct Linear {
  struct State {
    A sum, factor;
  };
  HEARTH_FN static State start() { return {A(0), A(1)}; }
  HEARTH_FN static State element(A x, A factor, int64_t) { return {x, factor}; }
  HEARTH_FN static State merge(State a, State b) {
    return {plus(b.sum, times(b.factor, a.sum)), times(a.factor, b.factor)};
  }
  HEARTH_FN static A value(State s) { return s.sum; }
  HEARTH_FN static int64_t index(State) { return 0; }
};

template <class A, bool largest>
struct Extreme {
  struct State {
    A value;
    int64_t index;  // -1: no element yet
  };
  HEARTH_FN static State start() { return {A(0), -1}; }
  HEARTH_FN static State element(A x, A, int64_t i) { return {x, i}; }
  HEARTH_FN static State merge(State a, State b) {
    if (b.index < 0 || a.index < 0) return b.index < 0 ? a : b;
    if (b.value != b.value) return b;
    if (a.value != a.value) return a;
    return (largest ? b.value >= a.value : b.value <= a.value) ? b : a;
  }
  HEARTH_FN static A value(State s) { return s.value; }
  HEARTH_FN static int64_t index(State s) { return s.index; }
};

}  // namespace hearth::scan
