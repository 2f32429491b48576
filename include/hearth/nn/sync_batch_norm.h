#pragma once

#include "hearth/nn/normalization.h"

namespace hearth::nn {

/// Batch normalization of [N, C, …]. In training mode, mean and variance are those of the batches
/// of all ranks of a process group (null: the default group); the batches may differ in size. In
/// evaluation mode, or without a group of several ranks, it computes what BatchNorm does. (The
/// base's argument 0 stands for any number of dimensions.)
class HEARTH_API SyncBatchNormImpl : public NormImplBase<0, SyncBatchNormImpl, BatchNormOptions> {
 public:
  explicit SyncBatchNormImpl(const BatchNormOptions& options_,
                             std::shared_ptr<distributed::ProcessGroup> process_group = nullptr);
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  std::shared_ptr<distributed::ProcessGroup> process_group;

 private:
  Tensor normalize(const Tensor& input);
};

/// Makes all BatchNorm1d, BatchNorm2d and BatchNorm3d in the module, or the module itself if it is
/// one, behave as SyncBatchNorm. They keep their names, types, parameters and statistics.
HEARTH_API void convert_sync_batchnorm(
    Module& module, const std::shared_ptr<distributed::ProcessGroup>& process_group = nullptr);

/// The holder of SyncBatchNormImpl.
class SyncBatchNorm : public ModuleHolder<SyncBatchNormImpl> {
 public:
  using ModuleHolder<SyncBatchNormImpl>::ModuleHolder;
  using Impl = SyncBatchNormImpl;
  /// nn::convert_sync_batchnorm for a holder or a shared pointer, which is also returned.
  template <class M>
  static M convert_sync_batchnorm(
      M module, const std::shared_ptr<distributed::ProcessGroup>& process_group = nullptr) {
    nn::convert_sync_batchnorm(*module, process_group);
    return module;
  }
};

extern template class NormImplBase<0, SyncBatchNormImpl, BatchNormOptions>;

namespace functional {

/// batch_norm with the statistics of the batches of all ranks, if options.training() and the group
/// (null: the default group) has several ranks.
HEARTH_API Tensor
sync_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                const BatchNormFuncOptions& options = {},
                const std::shared_ptr<distributed::ProcessGroup>& group = nullptr);

}  // namespace functional

}  // namespace hearth::nn
