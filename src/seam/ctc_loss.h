#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The sequences of a batch. log_probs is [time, batch, classes] with any strides, float or double;
/// targets is int64 or int32 with stride `stride` in its last dimension; the lengths and `starts`,
/// the indices of the sequences' first targets, are int64 [batch] and contiguous. A target outside
/// the classes is a kBadLabel fault.
struct CtcSequences {
  View log_probs, targets, input_lengths, target_lengths, starts;
  int64_t stride = 1;
  int64_t blank = 0;
};

/// loss [batch] = -log of the probability of all alignments of the targets; log_alpha [batch, time,
/// 2 * longest target + 1] = log of the probability of the alignments' prefixes. Both are
/// contiguous.
struct CtcLossParams {
  CtcSequences sequences;
  View loss, log_alpha;
};

/// grad_log_probs (contiguous) = grad_loss * (exp(log_probs) - the classes' posterior
/// probabilities), PyTorch's convention, which is correct if log_probs come from log_softmax. It is
/// 0 after a sequence's end and, if `zero_infinity`, where the loss is infinite. grad_loss is
/// [batch] with any stride.
struct CtcLossBackwardParams {
  CtcSequences sequences;
  View grad_loss, loss, log_alpha, grad_log_probs;
  bool zero_infinity = false;
};

}  // namespace hearth
