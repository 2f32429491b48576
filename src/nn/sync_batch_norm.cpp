#include "hearth/nn/sync_batch_norm.h"

#include <ostream>

#include "hearth/operators.h"
#include "nn/batch_norm_call.h"

namespace hearth::nn {

SyncBatchNormImpl::SyncBatchNormImpl(const BatchNormOptions& options_,
                                     std::shared_ptr<distributed::ProcessGroup> group)
    : NormImplBase(options_), process_group(std::move(group)) {}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  detail::print_batch_norm(stream, "SyncBatchNorm", options);
}

Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  return run_module(*this, &SyncBatchNormImpl::normalize, input);
}

Tensor SyncBatchNormImpl::normalize(const Tensor& input) {
  HEARTH_CHECK_AS(ValueError, input.dim() >= 2, "expected at least 2D input (got ", input.dim(),
                  "D input)");
  HEARTH_CHECK_AS(ValueError, input.size(1) > 0,
                  "SyncBatchNorm number of input channels should be non-zero");
  const functional::BatchNormFuncOptions call = detail::begin_batch_norm(*this);
  if (!is_training()) return functional::batch_norm(input, running_mean, running_var, call);
  return functional::sync_batch_norm(input, running_mean, running_var, call, process_group);
}

void convert_sync_batchnorm(Module& module,
                            const std::shared_ptr<distributed::ProcessGroup>& process_group) {
  const auto convert = [&](auto* norm) {
    if (norm) norm->synchronize(process_group);
  };
  module.apply([&](Module& part) {
    convert(part.as<BatchNorm1dImpl>());
    convert(part.as<BatchNorm2dImpl>());
    convert(part.as<BatchNorm3dImpl>());
  });
}

template class NormImplBase<0, SyncBatchNormImpl, BatchNormOptions>;

}  // namespace hearth::nn
