#pragma once

// The inner loops of recurrent nets for one instruction set: the gates of one sequence at one step,
// and their gradients, a vector of units at a time. The gates are bound by sigmoid and tanh, five
// for a unit of an LSTM and three for one of a GRU, the gradients by loads and stores, an LSTM's by
// a tanh. Included only by recurrence_@target@.cpp.in.

#include "kernels/cpu/math.h"
#include "kernels/cpu/recurrence_kernels.h"
#include "kernels/cpu/recurrence_product.h"
#include "kernels/cpu/vec.h"
#include "kernels/recurrence_cells.h"

namespace hearth::cpu {

/// Up to kLanes elements of a row, from element `first` on.
template <class T, class Isa>
struct RowPart {
  using V = FullVec<T, Isa>;
  int64_t first, n;

  HEARTH_SIMD V load(const void* from) const {
    const T* const data = static_cast<const T*>(from) + first;
    return n >= V::kLanes ? V::load(data) : V::load_first(data, int(n));
  }
  HEARTH_SIMD V load_or_zero(const void* from) const { return from ? load(from) : V(0); }
  HEARTH_SIMD void store(V value, void* to) const {
    T* const data = static_cast<T*>(to) + first;
    if (n >= V::kLanes)
      value.store(data);
    else
      value.store_first(data, int(n));
  }
  /// The same part of gate i.
  HEARTH_SIMD RowPart of_gate(int64_t i, int64_t hidden) const { return {first + i * hidden, n}; }
};

template <class T, class Isa>
struct RecurrenceLoopsOf {
  using V = FullVec<T, Isa>;
  using Part = RowPart<T, Isa>;

  /// Calls f(part) for the parts of a row of n elements.
  template <class F>
  HEARTH_SIMD static void for_parts(int64_t n, F f) {
    for (int64_t j = 0; j < n; j += V::kLanes) f(Part{j, n - j});
  }
  HEARTH_SIMD static V biased(const GateRow& row, Part part, int64_t gate) {
    const Part gate_part = part.of_gate(gate, row.hidden);
    return gate_part.load(row.gates) + gate_part.load(row.bias);
  }
  HEARTH_SIMD static void store_gate(const GateRow& row, Part part, int64_t gate, V value) {
    part.of_gate(gate, row.hidden).store(value, row.gates);
  }

  static void lstm(const GateRow& row) {
    for_parts(row.n, [&](Part part) {
      const LstmUnit<V> unit =
          lstm_unit(biased(row, part, 0), biased(row, part, 1), biased(row, part, 2),
                    biased(row, part, 3), part.load(row.previous));
      store_gate(row, part, 0, unit.i);
      store_gate(row, part, 1, unit.f);
      store_gate(row, part, 2, unit.g);
      store_gate(row, part, 3, unit.o);
      part.store(unit.cell, row.cell);
      part.store(unit.out, row.out);
    });
  }
  static void gru(const GateRow& row) {
    for_parts(row.n, [&](Part part) {
      const GruUnit<V> unit =
          gru_unit(biased(row, part, 0), biased(row, part, 1), biased(row, part, 2),
                   biased(row, part, 3), part.load(row.previous));
      store_gate(row, part, 0, unit.n);
      store_gate(row, part, 1, unit.r);
      store_gate(row, part, 2, unit.z);
      store_gate(row, part, 3, unit.from_state);
      part.store(unit.out, row.out);
    });
  }
  template <bool is_relu>
  static void plain(const GateRow& row) {
    for_parts(row.n,
              [&](Part part) { part.store(plain_unit(biased(row, part, 0), is_relu), row.out); });
  }

  HEARTH_SIMD static V grad_of_h(const GateGradRow& row, Part part) {
    return part.load(row.grad_h) + part.load_or_zero(row.grad_out);
  }
  HEARTH_SIMD static V load_gate(const GateGradRow& row, Part part, int64_t gate) {
    return part.of_gate(gate, row.hidden).load(row.gates);
  }
  HEARTH_SIMD static void store_grad(const GateGradRow& row, Part part, int64_t gate, V grad) {
    part.of_gate(gate, row.hidden).store(grad, row.grad_gates);
  }

  static void lstm_backward(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      const LstmUnit<V> grad =
          lstm_gradient(load_gate(row, part, 0), load_gate(row, part, 1), load_gate(row, part, 2),
                        load_gate(row, part, 3), part.load(row.cell), part.load(row.previous),
                        grad_of_h(row, part), part.load(row.grad_cell));
      store_grad(row, part, 0, grad.i);
      store_grad(row, part, 1, grad.f);
      store_grad(row, part, 2, grad.g);
      store_grad(row, part, 3, grad.o);
      part.store(grad.cell, row.grad_cell);
      if (row.out) part.store(grad.out, row.out);
    });
  }
  static void gru_backward(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      const GruUnit<V> grad =
          gru_gradient(load_gate(row, part, 0), load_gate(row, part, 1), load_gate(row, part, 2),
                       load_gate(row, part, 3), part.load(row.previous), grad_of_h(row, part));
      store_grad(row, part, 0, grad.n);
      store_grad(row, part, 1, grad.r);
      store_grad(row, part, 2, grad.z);
      store_grad(row, part, 3, grad.from_state);
      part.store(grad.out, row.grad_h);
    });
  }
  template <bool is_relu>
  static void plain_backward(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      store_grad(row, part, 0,
                 plain_gradient(load_gate(row, part, 0), grad_of_h(row, part), is_relu));
    });
  }

  static void add(const void* a, const void* b, void* out, int64_t n) {
    for_parts(n, [=](Part part) { part.store(part.load(a) + part.load_or_zero(b), out); });
  }

  static constexpr RecurrenceLoops loops{
      PanelProduct<T, Isa>::kColumns,
      PanelProduct<T, Isa>::multiply,
      {lstm, gru, plain<false>, plain<true>},
      {lstm_backward, gru_backward, plain_backward<false>, plain_backward<true>},
      add};
};

template <class Isa>
inline constexpr RecurrenceTable recurrence_table_of{RecurrenceLoopsOf<float, Isa>::loops,
                                                     RecurrenceLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
