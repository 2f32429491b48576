#pragma once

// The inner loops of reductions for one instruction set. block() distributes a row over 256 bytes
// of lanes, whose chains are independent; rows() updates the states of a vector of adjacent outputs
// with four rows at a time. Bound by memory; in the cache, by loads and by the functor's
// arithmetic. Included only by reduce_@target@.cpp.in.

#include "kernels/cpu/math_exp.h"
#include "kernels/cpu/math_log.h"
#include "kernels/cpu/math_pow.h"
#include "kernels/cpu/math_simple.h"
#include "kernels/cpu/reduce_kernels.h"
#include "kernels/cpu/vec_complex.h"

// For loops of constant length: arrays of vectors stay in registers only if every index is known.
#define HEARTH_UNROLL _Pragma("GCC unroll 64")

namespace hearth::cpu {

/// The types for elements of type T: stored elements, one value, a full register of values, and the
/// numbers from which values are constructed.
template <class T, class Isa>
struct LanesOf {
  using Stored = T;
  using Number = T;
  using One = Vec<T, 1, Isa>;
  using Full = FullVec<T, Isa>;
  static constexpr int64_t kFull = Full::kLanes;
};
/// Bools are computed as bytes of 0 and 1.
template <class Isa>
struct LanesOf<bool, Isa> : LanesOf<uint8_t, Isa> {
  using Number = bool;
};
template <class T, class Isa>
struct LanesOf<complex<T>, Isa> {
  using Stored = complex<T>;
  using Number = T;
  using One = ComplexLane<T, Isa>;
  using Full = One;
  static constexpr int64_t kFull = 1;
};

/// The loops of reduction F over elements of type `Element`.
template <class F, class Element, class Isa>
struct ReduceLoopsOf {
  using T = typename LanesOf<Element, Isa>::Stored;
  using Number = typename LanesOf<Element, Isa>::Number;
  using One = typename LanesOf<Element, Isa>::One;
  using Full = typename LanesOf<Element, Isa>::Full;
  static constexpr int kParts = fn::parts<F>;
  static_assert(kParts <= kMaxParts);
  static constexpr int64_t kTileElements = kReduceTileBytes / int64_t(sizeof(T));
  static constexpr int64_t kFull = LanesOf<Element, Isa>::kFull;
  // Elements are distributed over this many lanes, the same for all instruction sets, so that all
  // compute sums in the same order.
  static constexpr int64_t kLanes = 256 / int64_t(sizeof(T));
  template <class V>
  using State = fn::State<V, kParts>;

  template <class V>
  HEARTH_SIMD static State<V> load(const T* states, int64_t pitch) {
    State<V> s;
    HEARTH_UNROLL
    for (int p = 0; p < kParts; ++p) s.part[p] = V::load(states + p * pitch);
    return s;
  }
  template <class V>
  HEARTH_SIMD static void store(State<V> s, T* states, int64_t pitch) {
    HEARTH_UNROLL
    for (int p = 0; p < kParts; ++p) s.part[p].store(states + p * pitch);
  }
  HEARTH_SIMD static T* state_at(TileStates& states, int64_t j) {
    return reinterpret_cast<T*>(states.bytes) + j;
  }
  HEARTH_SIMD static const T* state_at(const TileStates& states, int64_t j) {
    return reinterpret_cast<const T*>(states.bytes) + j;
  }

  static void start(int64_t width, TileStates& states) {
    HEARTH_UNROLL
    for (int p = 0; p < kParts; ++p) {
      const Full value(fn::start_value<Number>(F::start[p]));
      for (int64_t j = 0; j < width; j += kFull)
        value.store(state_at(states, j) + p * kTileElements);
    }
  }

  /// into = merge(into, from), for one vector of states each.
  template <class V>
  HEARTH_SIMD static void merge_at(const F& f, T* into, const T* from, int64_t pitch) {
    store(f.merge(load<V>(into, pitch), load<V>(from, pitch)), into, pitch);
  }

  static void merge(const void* functor, const TileStates& from, int64_t first, int64_t width,
                    TileStates& states) {
    const F& f = *static_cast<const F*>(functor);
    for (int64_t j = 0; j < width; j += kFull)
      merge_at<Full>(f, state_at(states, j), state_at(from, first + j), kTileElements);
  }

  static void finish(const void* functor, const TileStates& states, int64_t width, void* out) {
    const F& f = *static_cast<const F*>(functor);
    for (int64_t j = 0; j < width; j += kFull)
      f.finish(load<Full>(state_at(states, j), kTileElements)).store(static_cast<T*>(out) + j);
  }

  static void block(const void* functor, const void* data, int64_t n, int64_t j,
                    TileStates& states) {
    const F& f = *static_cast<const F*>(functor);
    const T* x = static_cast<const T*>(data);
    constexpr int kVectors = int(kLanes / kFull);
    State<Full> s[kVectors];
    HEARTH_UNROLL
    for (int v = 0; v < kVectors; ++v) HEARTH_UNROLL
    for (int p = 0; p < kParts; ++p) s[v].part[p] = Full(fn::start_value<Number>(F::start[p]));
    for (; n >= kLanes; n -= kLanes, x += kLanes) HEARTH_UNROLL
    for (int v = 0; v < kVectors; ++v) s[v] = f.combine(s[v], Full::load(x + v * kFull));
    HEARTH_UNROLL
    for (int v = 0; v < kVectors; ++v, n -= kFull, x += kFull) {
      if (n >= kFull)
        s[v] = f.combine(s[v], Full::load(x));
      else if (n > 0)
        s[v] = combine_first(f, s[v], x, n);
    }
    HEARTH_UNROLL
    for (int half = kVectors / 2; half >= 1; half /= 2) HEARTH_UNROLL
    for (int v = 0; v < half; ++v) s[v] = f.merge(s[v], s[v + half]);
    T* state = state_at(states, j);
    store(f.merge(load<One>(state, kTileElements), merge_lanes(f, s[0])), state, kTileElements);
  }

  /// Combines n elements, fewer than a vector, into the first n lanes.
  HEARTH_SIMD static State<Full> combine_first(const F& f, State<Full> s, const T* x, int64_t n) {
    alignas(64) T lanes[kParts][kFull];
    store(s, lanes[0], kFull);
    for (int64_t l = 0; l < n; ++l)
      store(f.combine(load<One>(lanes[0] + l, kFull), One::load(x + l)), lanes[0] + l, kFull);
    return load<Full>(lanes[0], kFull);
  }

  HEARTH_SIMD static State<One> merge_lanes(const F& f, State<Full> s) {
    alignas(64) T lanes[kParts][kFull];
    store(s, lanes[0], kFull);
    HEARTH_UNROLL
    for (int64_t half = kFull / 2; half >= 1; half /= 2) HEARTH_UNROLL
    for (int64_t l = 0; l < half; ++l) merge_at<One>(f, lanes[0] + l, lanes[0] + l + half, kFull);
    return load<One>(lanes[0], kFull);
  }

  static void rows(const void* functor, const void* data, int64_t stride, int64_t count,
                   int64_t width, TileStates& states) {
    const F& f = *static_cast<const F*>(functor);
    const T* x = static_cast<const T*>(data);
    constexpr int kRowsAtOnce = 4;
    for (; count >= kRowsAtOnce; count -= kRowsAtOnce, x += kRowsAtOnce * stride)
      some_rows<kRowsAtOnce>(f, x, stride, width, state_at(states, 0));
    for (; count > 0; --count, x += stride) some_rows<1>(f, x, stride, width, state_at(states, 0));
  }

  template <int count>
  HEARTH_SIMD static void some_rows(const F& f, const T* x, int64_t stride, int64_t width,
                                    T* states) {
    int64_t j = 0;
    for (; j + kFull <= width; j += kFull) one_column<Full, count>(f, x + j, stride, states + j);
    for (; j < width; ++j) one_column<One, count>(f, x + j, stride, states + j);
  }
  template <class V, int count>
  HEARTH_SIMD static void one_column(const F& f, const T* x, int64_t stride, T* states) {
    State<V> s = load<V>(states, kTileElements);
    HEARTH_UNROLL
    for (int r = 0; r < count; ++r) s = f.combine(s, V::load(x + r * stride));
    store(s, states, kTileElements);
  }

  static constexpr ReduceLoops loops{kParts, start, block, rows, merge, finish};
};

/// Adds the loops of every reduction in F that can be computed in T to the table.
template <class Isa, class T, class... F>
constexpr void add_loops(ReduceTable& table, List<F...>) {
  const auto add = [&table]<class G>(const G*, int i) {
    if constexpr (G::info.dtypes >> int(dtype_of<T>) & 1)
      table.loops[i][int(dtype_of<T>)] = &ReduceLoopsOf<G, T, Isa>::loops;
  };
  int i = 0;
  (add(static_cast<const F*>(nullptr), i++), ...);
}

template <class Isa>
consteval ReduceTable make_reduce_table() {
  ReduceTable table;
  add_loops<Isa, float>(table, fn::Reductions{});
  add_loops<Isa, double>(table, fn::Reductions{});
  add_loops<Isa, int64_t>(table, fn::Reductions{});
  add_loops<Isa, bool>(table, fn::Reductions{});
  add_loops<Isa, complex<float>>(table, fn::Reductions{});
  add_loops<Isa, complex<double>>(table, fn::Reductions{});
  return table;
}

}  // namespace hearth::cpu
