#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The operands of attention. Views are 4-D, [batch, heads, rows, width], with any strides; query,
/// key, value, out and their gradients have one floating dtype. The number of key and value heads
/// divides the number of query heads; adjacent query heads share a key head.
struct AttentionOperands {
  View query, key, value;
  View mask;  // floating, [batch, heads, query rows, keys], added to the scores; may be undefined
  /// For dropout of the weights, on the CPU: true for weights that are kept and multiplied by
  /// kept_scale. bool, [batch, heads, query rows, keys], contiguous; may be undefined.
  View kept;
  View out;
  /// The logarithm of the sum of the exponentials of each row's scores; infinity if all scores are
  /// -infinity. [batch, heads, query rows], contiguous; double for double operands, else float.
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

/// The gradients of query, key and value, each of which may be undefined. `operands` are the
/// forward call's, with its results.
struct AttentionBackwardParams {
  AttentionOperands operands;
  View grad_out;
  View grad_query, grad_key, grad_value;
};

}  // namespace hearth
