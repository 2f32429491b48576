#pragma once

#include <optional>
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

/// The results of one or more layers; c is defined for LSTM only.
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

/// Layers of a recurrent net, without dropout between them.
struct RecurrenceLayers {
  RecurrenceMode mode = RecurrenceMode::kRnnTanh;
  bool bidirectional = false;
  std::vector<int64_t> batch_sizes = {};
  int64_t directions() const { return bidirectional ? 2 : 1; }
};
/// Runs layers one after another; h, c (undefined unless LSTM) and weights have one element per
/// layer and direction, and the states of the result have one along their first dimension.
RecurrenceResult recur_layers(const RecurrenceLayers& layers, Tensor input,
                              const std::vector<Tensor>& h, const std::vector<Tensor>& c,
                              const std::vector<RecurrenceWeights>& weights);
/// Runs layers by one call of the device's library; nullopt if there is none or if it refuses.
/// h0 and c0 are [layers * directions, batch, width].
std::optional<RecurrenceResult> recur_by_library(const RecurrenceLayers& layers,
                                                 const Tensor& input, const Tensor& h0,
                                                 const Tensor& c0,
                                                 const std::vector<RecurrenceWeights>& weights);

/// Runs a layer by one op for all steps if possible, else by recur_composed.
RecurrenceResult recur(const RecurrenceLayer& layer, const Tensor& input,
                       const RecurrenceState& first, const RecurrenceWeights& weights);
/// Runs a layer as ordinary ops: for second derivatives, where the op for all steps cannot run, and
/// as the reference of tests.
RecurrenceResult recur_composed(const RecurrenceLayer& layer, const Tensor& input,
                                const RecurrenceState& first, const RecurrenceWeights& weights);

}  // namespace hearth
