#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The operands of attention. Views are 4-D, [batch, heads, rows, width], with any strides; query,
/// key, value, out and their gradients have one floating dtype. The number of key and value heads
/// divides that of query heads; adjacent query heads share a key head.
struct AttentionOperands {
  View query, key, value;
  View mask;  // floating, [batch, heads, query rows, keys], added to the scores; may be undefined
  /// Dropout of the weights, on the CPU: bool, [batch, heads, query rows, keys], contiguous: the
  /// weights that are kept, and multiplied by kept_scale. May be undefined.
  View kept;
  View out;
  /// [batch, heads, query rows], contiguous; double if the dtype is, else float: the logarithm of
  /// the sum of the exponentials of a row's scores, infinity if all of them are -infinity.
  View logsumexp;
  double scale = 1;
  double kept_scale = 1;
  bool causal = false;  // query row i attends to the keys 0 to i
};

/// out = dropout(softmax(scale * query @ key^T + mask)) @ value; rows whose scores are all
/// -infinity give 0.
struct AttentionParams {
  AttentionOperands operands;
};

/// The gradients of query, key and value, each of which may be undefined. `operands` are those of
/// the forward call, with its results.
struct AttentionBackwardParams {
  AttentionOperands operands;
  View grad_out;
  View grad_query, grad_key, grad_value;
};

}  // namespace hearth
