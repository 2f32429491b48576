#pragma once

#include <optional>
#include <vector>

#include "seam/recurrence.h"

namespace hearth {

/// A recurrent net: all layers and directions, without dropout. The weights of a net are one
/// vector: those of layer 0, of its reverse direction, of layer 1 and so on; for each, w_ih, w_hh,
/// b_ih and b_hh (with has_biases) and w_hr (if h is projected).
struct RecurrenceNetShape {
  RecurrenceMode mode = RecurrenceMode::kRnnTanh;
  ScalarType dtype = kFloat;
  bool has_biases = true, bidirectional = false;
  bool saves = true;  // a backward pass may follow
  int64_t layers = 1, input = 0, hidden = 0;
  int64_t state = 0;                 // the width of h: hidden, or less if h is projected
  std::vector<int64_t> batch_sizes;  // sequences at each step, never rising

  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t gates() const { return gates_of(mode); }
  bool projects() const { return state != hidden; }
  int64_t steps() const { return int64_t(batch_sizes.size()); }
  int64_t batch() const { return batch_sizes.empty() ? 0 : batch_sizes[0]; }
  int64_t features_of(int64_t layer) const { return layer == 0 ? input : directions() * state; }
};

// The functions behind Backend::plan_recurrence_net. The CUDA plugin defines CUDA's if it has
// cuDNN. Only tests/cuda defines the CPU's, for its simulated GPUs: it calls CUDA's.
namespace cpu {
std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx);
}
namespace cuda {
std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx);
}

/// The operands of the forward and the backward pass: contiguous views of one floating dtype.
struct RecurrenceNetOperands {
  RecurrenceNetShape shape;
  View input;    // [positions, features], ordered by step
  View h0, c0;   // [layers * directions, batch, state or hidden]; c0: LSTM
  View weights;  // one dimension
  View output;   // [positions, directions * state]
  View reserve;  // bytes; undefined unless shape.saves
};

/// Computes the outputs of the last layer and the last states of all layers.
struct RecurrenceNetParams {
  RecurrenceNetOperands operands;
  View last_h, last_c;
};

/// Computes the gradients. `operands` are those of the forward pass, with its results.
struct RecurrenceNetBackwardParams {
  RecurrenceNetOperands operands;
  View grad_output, grad_last_h, grad_last_c;       // may be undefined
  View grad_input, grad_h0, grad_c0, grad_weights;  // may be undefined
};

}  // namespace hearth
