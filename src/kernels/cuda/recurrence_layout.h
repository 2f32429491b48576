#pragma once

// The layouts of cuDNN's recurrent nets: lengths of sequences, and the places of weights. Also
// whether cuDNN can express a net.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "seam/recurrence_net.h"

namespace hearth::cuda {

/// The lengths of sequences of which batch_sizes[t] reach step t.
inline std::vector<int32_t> sequence_lengths(const std::vector<int64_t>& batch_sizes) {
  std::vector<int32_t> lengths(batch_sizes.empty() ? 0 : size_t(batch_sizes[0]));
  for (const int64_t count : batch_sizes)
    for (int64_t b = 0; b < count; ++b) ++lengths[size_t(b)];
  return lengths;
}

/// A matrix or bias of a net, which cuDNN finds by a number.
struct NetWeight {
  int32_t pseudo_layer;  // layer * directions + direction
  int32_t number;        // the input's gates, the state's gates, the projection (LSTM: 0 to 8)
  bool is_bias;
  int64_t start;  // in the weights of the net
  int64_t rows, columns;
  int64_t count() const { return rows * columns; }
};

/// Appends the weights of one layer and direction, whose first is at `start`; returns the end. The
/// gates have the same order in cuDNN: i, f, g, o and r, z, n.
inline int64_t add_layer_weights(const RecurrenceNetShape& shape, int64_t pseudo_layer,
                                 int64_t start, std::vector<NetWeight>& weights) {
  const auto add = [&](int64_t number, bool is_bias, int64_t rows, int64_t columns) {
    weights.push_back({int32_t(pseudo_layer), int32_t(number), is_bias, start, rows, columns});
    start += rows * columns;
  };
  const auto add_gates = [&](int64_t first, bool is_bias, int64_t columns) {
    for (int64_t gate = 0; gate < shape.gates(); ++gate)
      add(first + gate, is_bias, shape.hidden, columns);
  };
  add_gates(0, false, shape.features_of(pseudo_layer / shape.directions()));
  add_gates(shape.gates(), false, shape.state);
  if (shape.has_biases) {
    add_gates(0, true, 1);
    add_gates(shape.gates(), true, 1);
  }
  if (shape.projects()) add(2 * shape.gates(), false, shape.state, shape.hidden);
  return start;
}

/// All weights of a net, in the order in which the net's vector of weights contains them.
inline std::vector<NetWeight> weights_of(const RecurrenceNetShape& shape) {
  std::vector<NetWeight> weights;
  int64_t start = 0;
  for (int64_t i = 0; i < shape.layers * shape.directions(); ++i)
    start = add_layer_weights(shape, i, start, weights);
  return weights;
}

/// Elements that are adjacent both in the net's vector of weights and in cuDNN's memory.
struct WeightRange {
  int64_t vector, library;  // the positions of the first element
  int64_t count;
};

/// Joins ranges that continue their predecessors.
inline std::vector<WeightRange> joined(const std::vector<WeightRange>& ranges) {
  std::vector<WeightRange> result;
  for (const WeightRange& range : ranges) {
    WeightRange* const last = result.empty() ? nullptr : &result.back();
    if (last != nullptr && last->vector + last->count == range.vector &&
        last->library + last->count == range.library)
      last->count += range.count;
    else
      result.push_back(range);
  }
  return result;
}

/// Whether cuDNN can compute a net: a floating dtype, sizes from 1 to INT32_MAX, projections only
/// of LSTMs and to fewer numbers, and no step without sequences. Other nets are computed layer by
/// layer.
inline bool suits_cudnn(const RecurrenceNetShape& shape) {
  const auto fits = [](int64_t size) { return size > 0 && size <= INT32_MAX; };
  const bool is_floating = shape.dtype == kFloat || shape.dtype == kDouble ||
                           shape.dtype == kHalf || shape.dtype == kBFloat16;
  const bool is_projection = shape.state < shape.hidden && shape.mode == RecurrenceMode::kLstm;
  return is_floating && fits(shape.layers) && fits(shape.input) && fits(shape.hidden) &&
         fits(shape.state) && fits(shape.steps()) && fits(shape.batch()) &&
         (!shape.projects() || is_projection) &&
         std::is_sorted(shape.batch_sizes.rbegin(), shape.batch_sizes.rend()) &&
         shape.batch_sizes.back() > 0;
}

}  // namespace hearth::cuda
