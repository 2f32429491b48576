#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The gates of one sequence at one step, for n units. The slots of a unit lie `hidden` elements
/// apart, in `gates` as in `bias`.
struct GateRow {
  void* gates;
  const void* bias;
  const void* before;  // c before the step (LSTM) or h (GRU)
  void* cell;          // LSTM
  void* out;           // h
  int64_t hidden, n;
};

/// The same backwards: the gradient of h is grad_h + grad_out.
struct GateGradRow {
  const void *gates, *before, *cell;
  const void* grad_out;  // may be null
  void* grad_h;          // GRU: becomes the part of the gradient of `before` past the gates
  void* grad_cell;       // LSTM: of c; becomes that of `before`
  void* grad_gates;
  void* out;  // LSTM: h before its projection; may be null
  int64_t hidden, n;
};

/// out = a @ panel or, with `add`, out += a @ panel: element (row, term) of a is a[row * row_step +
/// term * term_step], the panel is [terms, the loops' columns].
struct PanelFactors {
  const void* a;
  int64_t row_step, term_step;
  const void* panel;
  int64_t terms;
  void* out;
  int64_t ld_out, columns;
  bool add;
};

/// The inner loops of recurrent nets for one type; by RecurrenceMode where there are four.
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
