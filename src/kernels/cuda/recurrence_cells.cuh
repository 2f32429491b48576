#pragma once

// The kernels of recurrent nets: the gates or their gradients, with one unit of a sequence at one
// step per thread at a time. Bound by memory traffic: an LSTM's unit reads four gates and a state
// and writes four gates and two states. A step of few units is bound by the launch.

#include "kernels/cuda/lane.h"
#include "kernels/cuda/launch.h"
#include "kernels/recurrence_cells.h"
#include "seam/recurrence.h"

namespace hearth::cuda {

/// Rows of the state before a step: the first `split` of them are in `states`, the others in
/// `initial`. Row 0 of `initial` belongs to sequence 0.
template <class T>
struct PreviousRows {
  const T *states, *initial;
  int64_t split, width;
  __device__ T at(int64_t sequence, int64_t unit) const {
    return (sequence < split ? states : initial)[sequence * width + unit];
  }
};

/// The operands of one step. `gates`, `cell` and `out` point to the row of its first sequence. A
/// row of `gates` has `slots` slots of `hidden` numbers each.
template <class T>
struct CellStep {
  int64_t sequences, hidden, slots;
  PreviousRows<T> previous;  // c (LSTM) or h
  const T *input_bias, *state_bias;
  T *gates, *cell, *out;

  __device__ T& gate(int64_t sequence, int64_t unit, int slot) const {
    return gates[(sequence * slots + slot) * hidden + unit];
  }
  /// The argument of a gate: the products in its slot, and the biases. GRU's n has one slot for
  /// each of its biases.
  __device__ T biased(int64_t sequence, int64_t unit, int slot) const {
    const bool is_gru = slots == 4 && cell == nullptr;
    const bool has_input = !is_gru || slot < 3, has_state = !is_gru || slot > 0;
    const int64_t input = is_gru && slot == 0 ? 2 : is_gru ? slot - 1 : slot;
    const int64_t state = is_gru ? slot - 1 : slot;
    T bias = 0;
    if (has_state && state_bias) bias += state_bias[state * hidden + unit];
    if (has_input && input_bias) bias += input_bias[input * hidden + unit];
    return gate(sequence, unit, slot) + bias;
  }
};

template <RecurrenceMode mode, class T>
__device__ void compute_cell(const CellStep<T>& step, int64_t b, int64_t unit) {
  using V = Lane<T>;
  const auto argument = [&](int slot) { return V(step.biased(b, unit, slot)); };
  const int64_t element = b * step.hidden + unit;
  if constexpr (mode == RecurrenceMode::kLstm) {
    const LstmUnit<V> values =
        lstm_unit(argument(0), argument(1), argument(2), argument(3), V(step.previous.at(b, unit)));
    step.gate(b, unit, 0) = values.i.v;
    step.gate(b, unit, 1) = values.f.v;
    step.gate(b, unit, 2) = values.g.v;
    step.gate(b, unit, 3) = values.o.v;
    step.cell[element] = values.cell.v;
    step.out[element] = values.out.v;
  } else if constexpr (mode == RecurrenceMode::kGru) {
    const GruUnit<V> values =
        gru_unit(argument(0), argument(1), argument(2), argument(3), V(step.previous.at(b, unit)));
    step.gate(b, unit, 0) = values.n.v;
    step.gate(b, unit, 1) = values.r.v;
    step.gate(b, unit, 2) = values.z.v;
    step.gate(b, unit, 3) = values.from_state.v;
    step.out[element] = values.out.v;
  } else {
    step.out[element] = plain_unit(argument(0), mode == RecurrenceMode::kRnnRelu).v;
  }
}

/// The operands of one step's gradients; the gradient of h is grad_h + grad_out.
template <class T>
struct CellGradientStep {
  int64_t sequences, hidden, slots;
  PreviousRows<T> previous;
  const T *gates, *cell;
  const T* grad_out;  // may be null
  T *grad_h, *grad_cell, *grad_gates;
  T* out;  // LSTM: h before its projection; may be null
};

template <RecurrenceMode mode, class T>
__device__ void compute_cell_gradient(const CellGradientStep<T>& step, int64_t b, int64_t unit) {
  using V = Lane<T>;
  const auto index = [&](int slot) { return (b * step.slots + slot) * step.hidden + unit; };
  const auto gate = [&](int slot) { return V(step.gates[index(slot)]); };
  const auto store = [&](int slot, V grad) { step.grad_gates[index(slot)] = grad.v; };
  const int64_t element = b * step.hidden + unit;
  V grad(step.grad_h[element]);
  if (step.grad_out) grad = grad + V(step.grad_out[element]);
  if constexpr (mode == RecurrenceMode::kLstm) {
    const LstmUnit<V> grads =
        lstm_gradient(gate(0), gate(1), gate(2), gate(3), V(step.cell[element]),
                      V(step.previous.at(b, unit)), grad, V(step.grad_cell[element]));
    store(0, grads.i);
    store(1, grads.f);
    store(2, grads.g);
    store(3, grads.o);
    step.grad_cell[element] = grads.cell.v;
    if (step.out) step.out[element] = grads.out.v;
  } else if constexpr (mode == RecurrenceMode::kGru) {
    const GruUnit<V> grads =
        gru_gradient(gate(0), gate(1), gate(2), gate(3), V(step.previous.at(b, unit)), grad);
    store(0, grads.n);
    store(1, grads.r);
    store(2, grads.z);
    store(3, grads.from_state);
    step.grad_h[element] = grads.out.v;
  } else {
    store(0, plain_gradient(gate(0), grad, mode == RecurrenceMode::kRnnRelu));
  }
}

/// Calls f(sequence, unit) for this thread's share of a step's units.
template <class Step, class F>
__device__ __forceinline__ void for_units(const Step& step, const F& f) {
  const int64_t count = step.sequences * step.hidden, stride = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += stride)
    f(i / step.hidden, i % step.hidden);
}

template <RecurrenceMode mode, class T>
__global__ void __launch_bounds__(kBlock) cell_kernel(const __grid_constant__ CellStep<T> step) {
  for_units(step, [&](int64_t b, int64_t unit) { compute_cell<mode>(step, b, unit); });
}
template <RecurrenceMode mode, class T>
__global__ void __launch_bounds__(kBlock)
    cell_gradient_kernel(const __grid_constant__ CellGradientStep<T> step) {
  for_units(step, [&](int64_t b, int64_t unit) { compute_cell_gradient<mode>(step, b, unit); });
}

/// out = a + b, where b may be null.
template <class T>
__global__ void __launch_bounds__(kBlock) add_kernel(const T* a, const T* b, T* out, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < n; i += stride)
    out[i] = a[i] + (b ? b[i] : T(0));
}

/// Calls f(constant) with the mode as a constant.
template <class F>
void with_mode(RecurrenceMode mode, const F& f) {
  using enum RecurrenceMode;
  switch (mode) {
    case kLstm: return f(std::integral_constant<RecurrenceMode, kLstm>{});
    case kGru: return f(std::integral_constant<RecurrenceMode, kGru>{});
    case kRnnTanh: return f(std::integral_constant<RecurrenceMode, kRnnTanh>{});
    case kRnnRelu: return f(std::integral_constant<RecurrenceMode, kRnnRelu>{});
  }
}

}  // namespace hearth::cuda
