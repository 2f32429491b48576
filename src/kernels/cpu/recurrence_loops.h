#pragma once

// The inner loops of recurrent nets for one instruction set. Included only by
// recurrence_@target@.cpp.in.

#include "kernels/cpu/math.h"
#include "kernels/cpu/recurrence_kernels.h"
#include "kernels/cpu/recurrence_product.h"
#include "kernels/cpu/vec.h"

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
  /// The same part of slot i.
  HEARTH_SIMD RowPart slot(int64_t i, int64_t hidden) const { return {first + i * hidden, n}; }
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
  HEARTH_SIMD static V biased(const GateRow& row, Part part, int64_t slot) {
    const Part slot_part = part.slot(slot, row.hidden);
    return slot_part.load(row.gates) + slot_part.load(row.bias);
  }
  HEARTH_SIMD static void store_gate(const GateRow& row, Part part, int64_t slot, V value) {
    part.slot(slot, row.hidden).store(value, row.gates);
  }

  static void lstm(const GateRow& row) {
    for_parts(row.n, [&](Part part) {
      const V i = sigmoid(biased(row, part, 0)), f = sigmoid(biased(row, part, 1)),
              g = tanh(biased(row, part, 2)), o = sigmoid(biased(row, part, 3));
      const V cell = mul_add(f, part.load(row.previous), i * g);
      store_gate(row, part, 0, i);
      store_gate(row, part, 1, f);
      store_gate(row, part, 2, g);
      store_gate(row, part, 3, o);
      part.store(cell, row.cell);
      part.store(o * tanh(cell), row.out);
    });
  }
  static void gru(const GateRow& row) {
    for_parts(row.n, [&](Part part) {
      const V r = sigmoid(biased(row, part, 1)), z = sigmoid(biased(row, part, 2)),
              from_state = biased(row, part, 3);
      const V candidate = tanh(mul_add(r, from_state, biased(row, part, 0)));
      store_gate(row, part, 0, candidate);
      store_gate(row, part, 1, r);
      store_gate(row, part, 2, z);
      store_gate(row, part, 3, from_state);
      part.store(mul_add(z, part.load(row.previous) - candidate, candidate), row.out);
    });
  }
  static void plain_tanh(const GateRow& row) {
    for_parts(row.n, [&](Part part) { part.store(tanh(biased(row, part, 0)), row.out); });
  }
  static void relu(const GateRow& row) {
    for_parts(row.n, [&](Part part) {
      const V x = biased(row, part, 0);
      part.store(select(x <= V(0), V(0), x), row.out);
    });
  }

  HEARTH_SIMD static V grad_of_h(const GateGradRow& row, Part part) {
    return part.load(row.grad_h) + part.load_or_zero(row.grad_out);
  }
  HEARTH_SIMD static V load_gate(const GateGradRow& row, Part part, int64_t slot) {
    return part.slot(slot, row.hidden).load(row.gates);
  }
  HEARTH_SIMD static void store_grad(const GateGradRow& row, Part part, int64_t slot, V grad) {
    part.slot(slot, row.hidden).store(grad, row.grad_gates);
  }
  /// The derivatives of sigmoid and tanh, computed from their values y.
  HEARTH_SIMD static V sigmoid_slope(V y) { return y * (1 - y); }
  HEARTH_SIMD static V tanh_slope(V y) { return 1 - y * y; }

  static void lstm_gradient(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      const V i = load_gate(row, part, 0), f = load_gate(row, part, 1), g = load_gate(row, part, 2),
              o = load_gate(row, part, 3);
      const V tanh_cell = tanh(part.load(row.cell)), grad = grad_of_h(row, part);
      const V grad_cell = part.load(row.grad_cell) + grad * o * tanh_slope(tanh_cell);
      store_grad(row, part, 0, grad_cell * g * sigmoid_slope(i));
      store_grad(row, part, 1, grad_cell * part.load(row.previous) * sigmoid_slope(f));
      store_grad(row, part, 2, grad_cell * i * tanh_slope(g));
      store_grad(row, part, 3, grad * tanh_cell * sigmoid_slope(o));
      part.store(grad_cell * f, row.grad_cell);
      if (row.out) part.store(o * tanh_cell, row.out);
    });
  }
  static void gru_gradient(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      const V candidate = load_gate(row, part, 0), r = load_gate(row, part, 1),
              z = load_gate(row, part, 2), from_state = load_gate(row, part, 3);
      const V grad = grad_of_h(row, part);
      const V grad_candidate = grad * (1 - z) * tanh_slope(candidate);
      store_grad(row, part, 0, grad_candidate);
      store_grad(row, part, 1, grad_candidate * from_state * sigmoid_slope(r));
      store_grad(row, part, 2, grad * (part.load(row.previous) - candidate) * sigmoid_slope(z));
      store_grad(row, part, 3, grad_candidate * r);
      part.store(grad * z, row.grad_h);
    });
  }
  static void tanh_gradient(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      store_grad(row, part, 0, grad_of_h(row, part) * tanh_slope(load_gate(row, part, 0)));
    });
  }
  static void relu_gradient(const GateGradRow& row) {
    for_parts(row.n, [&](Part part) {
      const V y = load_gate(row, part, 0);
      store_grad(row, part, 0, select(y <= V(0), V(0), grad_of_h(row, part)));
    });
  }

  static void add(const void* a, const void* b, void* out, int64_t n) {
    for_parts(n, [=](Part part) { part.store(part.load(a) + part.load_or_zero(b), out); });
  }

  static constexpr RecurrenceLoops loops{
      PanelProduct<T, Isa>::kColumns,
      PanelProduct<T, Isa>::multiply,
      {lstm, gru, plain_tanh, relu},
      {lstm_gradient, gru_gradient, tanh_gradient, relu_gradient},
      add};
};

template <class Isa>
inline constexpr RecurrenceTable recurrence_table_of{RecurrenceLoopsOf<float, Isa>::loops,
                                                     RecurrenceLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
