#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The rows that layer norm, group norm and rms norm normalise: `rows` rows, each with `channels`
/// channels of `inner` contiguous elements. weight and bias have groups * channels elements; row r
/// uses `channels` of them, from (r % groups) * channels on.
struct RowNormShape {
  int64_t rows = 0, groups = 1, channels = 1, inner = 1;
  bool centered = true;  // if not, the mean is taken to be 0
  int64_t length() const { return channels * inner; }
  int64_t all_channels() const { return groups * channels; }
};

/// out = (in - mean) * rstd * weight + bias with the mean of each row and rstd = 1 / sqrt(var +
/// eps); both are outputs. All views are contiguous. in and out have one floating dtype, weight and
/// bias the same or float32; mean and rstd are float32 for half types, else of in's dtype.
struct RowNormParams {
  View in{}, out{};
  View weight{}, bias{};  // may be undefined: 1 and 0
  View mean{};            // undefined unless centered
  View rstd{};
  RowNormShape shape{};
  double eps = 1e-5;
};

/// The gradients of a row norm with respect to in, weight and bias; undefined ones are not
/// computed.
struct RowNormBackwardParams {
  View grad{}, in{}, weight{}, mean{}, rstd{};
  View grad_in{}, grad_weight{}, grad_bias{};
  RowNormShape shape{};
};

}  // namespace hearth
