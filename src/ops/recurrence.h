#pragma once

#include <vector>

#include "hearth/tensor.h"
#include "seam/recurrence.h"

namespace hearth {

/// The weights of one layer in one direction; biases and projection may be undefined.
struct RecurrenceWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

/// One layer of a recurrent net in one direction. Sequences are [steps, batch, features] or, with
/// batch_sizes, [positions, features].
struct RecurrenceLayer {
  RecurrenceMode mode = RecurrenceMode::kRnnTanh;
  bool reverse = false;
  std::vector<int64_t> batch_sizes = {};
};

/// The results of a layer; c is defined for LSTM only.
struct RecurrenceResult {
  Tensor output, h, c;
};

/// The state before or after a step; c is defined for LSTM only.
struct RecurrenceState {
  Tensor h, c;
};
/// The state after one step; `from_input` is the step's input times w_ih^T, plus b_ih.
RecurrenceState recurrence_step(RecurrenceMode mode, const Tensor& from_input,
                                const RecurrenceState& state, const RecurrenceWeights& weights);

/// Runs a layer by one op for all steps if possible, else by recur_composed.
RecurrenceResult recur(const RecurrenceLayer& layer, const Tensor& input,
                       const RecurrenceState& first, const RecurrenceWeights& weights);
/// Runs a layer as ordinary ops: for second derivatives, for devices without the kernel, and as the
/// reference of tests.
RecurrenceResult recur_composed(const RecurrenceLayer& layer, const Tensor& input,
                                const RecurrenceState& first, const RecurrenceWeights& weights);

}  // namespace hearth
