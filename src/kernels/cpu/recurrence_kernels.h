#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The operands of the gates of one sequence at one step, for n units. `gates` and `bias` have one
/// element per gate and unit, gates `hidden` elements apart; `gates` holds the arguments and,
/// except in plain nets, becomes the gates' values.
struct GateRow {
  void* gates;
  const void* bias;
  const void* previous;  // c (LSTM) or h (GRU) before the step
  void* cell;            // LSTM: c after the step
  void* out;             // h after the step
  int64_t hidden, n;
};

/// The operands of the gates' gradients; the gradient of h is grad_h + grad_out.
struct GateGradRow {
  const void *gates, *previous, *cell;
  const void* grad_out;  // may be null
  // GRU: becomes the part of the gradient of `previous` that does not pass through the gates.
  void* grad_h;
  void* grad_cell;  // LSTM: the gradient of c; becomes the gradient of `previous`
  void* grad_gates;
  void* out;  // LSTM: receives h before its projection, computed again; may be null
  int64_t hidden, n;
};

/// The operands of out = a @ panel or, with `add`, out += a @ panel. Element (row, term) of a is
/// `a[row * row_step + term * term_step]`; the panel is `[terms, RecurrenceLoops::columns]`.
struct PanelFactors {
  const void* a;
  int64_t row_step, term_step;
  const void* panel;
  int64_t terms;
  void* out;
  int64_t ld_out;
  int64_t out_columns;  // at most the panel's
  bool add;
};

/// The inner loops of recurrent nets for one type; arrays are indexed by RecurrenceMode.
struct RecurrenceLoops {
  int64_t columns;  // of a panel
  void (*multiply)(const PanelFactors& factors, int64_t rows);
  void (*gates[4])(const GateRow& row);
  void (*gradients[4])(const GateGradRow& row);
  /// out = a + b, where b may be null.
  void (*add)(const void* a, const void* b, void* out, int64_t n);
};

struct RecurrenceTable {
  RecurrenceLoops f32, f64;
};

extern const RecurrenceTable recurrence_table_avx2;
extern const RecurrenceTable recurrence_table_avx512;
extern const RecurrenceTable recurrence_table_generic;

}  // namespace hearth::cpu
