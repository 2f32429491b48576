#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = (in - mean) / sqrt(var + eps) * weight + bias per channel (dimension 1 of `in`, which has
/// at least two dimensions). Training computes mean and biased variance over all other dimensions,
/// writes them to save_mean and save_invstd (1 / sqrt(var + eps), or 0 instead of infinity) and
/// updates the running statistics: running = (1 - momentum) * running + momentum * new, with the
/// unbiased variance. Evaluation reads the running statistics and writes none. Per-channel views
/// have one dimension of C elements. All dtypes are floating: `out` has the dtype of `in`,
/// per-channel views the same or float32.
struct BatchNormParams {
  View in{};
  View out{};
  View weight{};        // may be undefined: 1
  View bias{};          // may be undefined: 0
  View running_mean{};  // this and running_var may be undefined when training
  View running_var{};
  View save_mean{};    // may be undefined
  View save_invstd{};  // may be undefined
  bool training = true;
  double momentum = 0.1;
  double eps = 1e-5;
};

/// The gradients of batch norm with respect to in, weight and bias. Training reads save_mean and
/// save_invstd, evaluation the running statistics; undefined outputs are not computed.
struct BatchNormBackwardParams {
  View grad_out{};
  View in{};
  View weight{};        // may be undefined: 1
  View running_mean{};  // evaluation only
  View running_var{};   // evaluation only
  View save_mean{};     // training only
  View save_invstd{};   // training only
  View grad_in{};       // may be undefined
  View grad_weight{};   // may be undefined
  View grad_bias{};     // may be undefined
  bool training = true;
  double eps = 1e-5;
};

}  // namespace hearth
