#pragma once

#include <ostream>

#include "nn/norm_base.h"

// Common code of BatchNorm and SyncBatchNorm.
namespace hearth::nn::detail {

inline void print_batch_norm(std::ostream& stream, const std::string& name,
                             const BatchNormOptions& options) {
  using hearth::detail::str;
  const auto momentum = options.momentum();
  stream << str(name, "(", options.num_features(), ", eps=", options.eps(),
                ", momentum=", momentum ? str(*momentum) : "None", ", affine=", options.affine(),
                ", track_running_stats=", options.track_running_stats(), ")");
}

/// In training mode, counts the batch if the module has num_batches_tracked. Returns the options of
/// the normalization.
template <class M>
functional::BatchNormFuncOptions begin_batch_norm(M& module) {
  const BatchNormOptions& options = module.options;
  Tensor& num_batches = module.num_batches_tracked;
  const bool tracks =
      module.is_training() && options.track_running_stats() && num_batches.defined();
  if (tracks) num_batches.add_(1);
  double momentum = options.momentum().value_or(0);
  if (tracks && !options.momentum()) momentum = 1 / num_batches.template item<double>();
  return functional::BatchNormFuncOptions()
      .weight(module.weight)
      .bias(module.bias)
      .training(module.is_training() || !options.track_running_stats())
      .momentum(momentum)
      .eps(options.eps());
}

}  // namespace hearth::nn::detail
