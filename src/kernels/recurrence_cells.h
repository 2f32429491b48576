#pragma once

// The formulas of recurrent cells, for CPU and CUDA kernels. V is a value of functors/hd.h that
// also has mul_add(a, b, c).

#include "functors/hd.h"

namespace hearth {

/// The derivatives of sigmoid and tanh, computed from their values y.
template <class V>
HEARTH_FN V sigmoid_slope(V y) {
  return y * (1 - y);
}
template <class V>
HEARTH_FN V tanh_slope(V y) {
  return 1 - y * y;
}

/// The gates, the new cell and the output of an LSTM's unit.
template <class V>
struct LstmUnit {
  V i, f, g, o, cell, out;
};
/// Computes an LstmUnit from the gates' arguments and the previous cell.
template <class V>
HEARTH_FN LstmUnit<V> lstm_unit(V i, V f, V g, V o, V previous) {
  LstmUnit<V> unit;
  unit.i = sigmoid(i);
  unit.f = sigmoid(f);
  unit.g = tanh(g);
  unit.o = sigmoid(o);
  unit.cell = mul_add(unit.f, previous, unit.i * unit.g);
  unit.out = unit.o * tanh(unit.cell);
  return unit;
}
/// Computes the gradients of the gates' arguments and of the previous cell, given the gates' values
/// and the gradients of the output and of the cell; the result's `out` is the unit's output.
template <class V>
HEARTH_FN LstmUnit<V> lstm_gradient(V i, V f, V g, V o, V cell, V previous, V grad, V grad_cell) {
  const V tanh_cell = tanh(cell);
  const V total = grad_cell + grad * o * tanh_slope(tanh_cell);
  LstmUnit<V> unit;
  unit.i = total * g * sigmoid_slope(i);
  unit.f = total * previous * sigmoid_slope(f);
  unit.g = total * i * tanh_slope(g);
  unit.o = grad * tanh_cell * sigmoid_slope(o);
  unit.cell = total * f;
  unit.out = o * tanh_cell;
  return unit;
}

/// The gates of a GRU's unit (n, r, z), the state's contribution to n, and the output.
template <class V>
struct GruUnit {
  V n, r, z, from_state, out;
};
/// Computes a GruUnit from the gates' arguments, the state's contribution and the previous state.
template <class V>
HEARTH_FN GruUnit<V> gru_unit(V n, V r, V z, V from_state, V previous) {
  GruUnit<V> unit;
  unit.r = sigmoid(r);
  unit.z = sigmoid(z);
  unit.from_state = from_state;
  unit.n = tanh(mul_add(unit.r, from_state, n));
  unit.out = mul_add(unit.z, previous - unit.n, unit.n);
  return unit;
}
/// Computes the gradients of gru_unit's arguments, given the gates' values; the result's `out` is
/// the part of the previous state's gradient that does not pass through the gates.
template <class V>
HEARTH_FN GruUnit<V> gru_gradient(V n, V r, V z, V from_state, V previous, V grad) {
  GruUnit<V> unit;
  unit.n = grad * (1 - z) * tanh_slope(n);
  unit.r = unit.n * from_state * sigmoid_slope(r);
  unit.z = grad * (previous - n) * sigmoid_slope(z);
  unit.from_state = unit.n * r;
  unit.out = grad * z;
  return unit;
}

/// The output of a plain unit, and the gradient of its argument, given the output y.
template <class V>
HEARTH_FN V plain_unit(V x, bool is_relu) {
  return is_relu ? V(select(x <= V(0), V(0), x)) : V(tanh(x));
}
template <class V>
HEARTH_FN V plain_gradient(V y, V grad, bool is_relu) {
  return is_relu ? V(select(y <= V(0), V(0), grad)) : V(grad * tanh_slope(y));
}

}  // namespace hearth
