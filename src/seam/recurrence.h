#pragma once

#include <cstdint>
#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

enum class RecurrenceMode : int8_t { kLstm, kGru, kRnnTanh, kRnnRelu };

/// The number of gates: LSTM's i, f, g, o; GRU's r, z, n.
constexpr int64_t gates_of(RecurrenceMode mode) {
  return mode == RecurrenceMode::kLstm ? 4 : mode == RecurrenceMode::kGru ? 3 : 1;
}

/// `count` rows of a weight, from `row` on; their products are the columns of the gates from
/// `column` on.
struct GateBlock {
  int64_t row, column, count;
};

/// One layer of a recurrent net in one direction. A position is one step of one sequence; the
/// positions of a step are adjacent, and the sequences that have ended are the last of the batch.
struct RecurrenceShape {
  RecurrenceMode mode = RecurrenceMode::kRnnTanh;
  bool reverse = false;  // from the last step to the first
  int64_t steps = 0, batch = 0;
  int64_t hidden = 0;                // hidden units
  int64_t state = 0;                 // the width of h: hidden, or less if h is projected
  std::vector<int64_t> batch_sizes;  // sequences at each step, never rising; empty: `batch` at each

  bool projects() const { return state != hidden; }
  int64_t gates() const { return gates_of(mode); }
  /// The number of values of a unit in RecurrenceOperands::gates: LSTM's i, f, g, o; GRU's n, r, z
  /// and the state's contribution to n.
  int64_t slots() const { return gates() == 3 ? 4 : gates(); }
  /// The first slot to which the state contributes.
  int64_t first_slot() const { return gates() == 3 ? 1 : 0; }
  /// The blocks of the inputs' weight: GRU's n is first in the slots and last in the weight.
  std::vector<GateBlock> input_blocks() const {
    if (mode != RecurrenceMode::kGru) return {{0, 0, gates() * hidden}};
    return {{0, hidden, 2 * hidden}, {2 * hidden, 0, hidden}};
  }
};

/// The operands of the forward and the backward pass: contiguous views of float32 or float64.
struct RecurrenceOperands {
  RecurrenceShape shape;
  View weight;      // [gates * hidden, state], for the state
  View projection;  // [state, hidden], if h is projected
  View h0, c0;      // [batch, state], [batch, hidden]
  View gates;       // [positions, slots * hidden]; for tanh and relu, the output
  View cells;       // [positions, hidden]; LSTM
  View output;      // [positions, state]
};

/// Computes the states of all steps. On entry, `gates` contains the products of the inputs and
/// their weights (for GRU, in all slots but the last); it receives the values of the gates.
struct RecurrenceParams {
  RecurrenceOperands operands;
  View input_bias, state_bias;  // [gates * hidden], may be undefined
  View last_h, last_c;
};

/// Computes the gradients of the gates' arguments, the first states and the weights.
struct RecurrenceBackwardParams {
  RecurrenceOperands operands;                 // with the forward call's results
  View input;                                  // [positions, features]
  View grad_output, grad_last_h, grad_last_c;  // may be undefined
  View grad_gates;                             // sizes as `gates`
  View grad_h0, grad_c0;
  /// If h is projected: the gradient of the projection's result, [positions, state], and the
  /// projection's operand, [positions, hidden].
  View grad_projected, unprojected;
  View grad_input_weight, grad_state_weight, grad_projection;  // may be undefined
};

}  // namespace hearth
