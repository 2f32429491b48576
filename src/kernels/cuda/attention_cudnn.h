#pragma once

#include "seam/attention.h"

namespace hearth::cuda {

/// Computes attention by cuDNN; returns false, and writes nothing, if cuDNN is not to be used,
/// refuses, or lacks memory.
bool run_cudnn(const AttentionParams& params, Ctx& ctx);
bool run_cudnn(const AttentionBackwardParams& params, Ctx& ctx);

/// After a forward pass by cuDNN: sets the result of rows whose mask is -infinity for all keys to
/// 0, and their logsumexp to infinity. cuDNN's results of such rows are undefined.
void clear_masked_rows(const AttentionOperands& operands, Ctx& ctx);

}  // namespace hearth::cuda
