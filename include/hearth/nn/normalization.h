#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::distributed {
class ProcessGroup;
}

namespace hearth::nn {

/// Options of BatchNorm1d, BatchNorm2d and BatchNorm3d.
struct HEARTH_API BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  HEARTH_ARG(int64_t, num_features);  ///< the number of channels
  HEARTH_ARG(double, eps) = 1e-5;     ///< added to the variance
  /// Weight of a batch in the running statistics; nullopt: their mean over all batches.
  HEARTH_ARG(std::optional<double>, momentum) = 0.1;
  HEARTH_ARG(bool, affine) = true;               ///< whether weight and bias exist
  HEARTH_ARG(bool, track_running_stats) = true;  ///< whether running statistics exist
};
using BatchNorm1dOptions = BatchNormOptions;  ///< options of BatchNorm1d
using BatchNorm2dOptions = BatchNormOptions;  ///< options of BatchNorm2d
using BatchNorm3dOptions = BatchNormOptions;  ///< options of BatchNorm3d
/// Options of LayerNorm.
struct HEARTH_API LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  HEARTH_ARG(std::vector<int64_t>, normalized_shape);  ///< sizes of the last dimensions
  HEARTH_ARG(double, eps) = 1e-5;                      ///< added to the variance
  HEARTH_ARG(bool, elementwise_affine) = true;         ///< whether weight and bias exist
};
/// Options of RMSNorm.
struct HEARTH_API RMSNormOptions {
  RMSNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  HEARTH_ARG(std::vector<int64_t>, normalized_shape);  ///< sizes of the last dimensions
  /// Added to the mean square; nullopt: the epsilon of the input's dtype.
  HEARTH_ARG(std::optional<double>, eps);
  HEARTH_ARG(bool, elementwise_affine) = true;  ///< whether weight exists
};
/// Options of GroupNorm.
struct HEARTH_API GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  HEARTH_ARG(int64_t, num_groups);    ///< must divide num_channels
  HEARTH_ARG(int64_t, num_channels);  ///< size of dimension 1
  HEARTH_ARG(double, eps) = 1e-5;     ///< added to the variance
  HEARTH_ARG(bool, affine) = true;    ///< whether weight and bias exist
};

/// Base of batch and instance normalization: parameters and running statistics of the channels.
template <size_t D, class Derived, class Options>
class HEARTH_API NormImplBase : public Cloneable<Derived> {
 public:
  NormImplBase(const Options& options_);
  void reset() override;
  void reset_running_stats();  ///< sets mean 0, variance 1 and no batches
  void reset_parameters();     ///< sets weight 1 and bias 0, resets running statistics

  Options options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;         ///< buffer [num_features], or undefined
  Tensor running_var;          ///< buffer [num_features], or undefined
  Tensor num_batches_tracked;  ///< buffer, the batches in training mode (InstanceNorm: 0)
};

/// Base of batch normalization: (input - mean) / sqrt(var + eps) * weight + bias per channel. Mean
/// and variance are those of the batch in training mode, else the running statistics, if any.
template <size_t D, class Derived>
class HEARTH_API BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  /// Makes training mode use the statistics of the batches of all ranks of the group (null: the
  /// default group), as SyncBatchNorm does.
  void synchronize(std::shared_ptr<distributed::ProcessGroup> group = nullptr);

 private:
  Tensor normalize(const Tensor& input);

  bool is_synchronized_ = false;
  std::shared_ptr<distributed::ProcessGroup> group_;
};

/// Batch normalization of [N, C] or [N, C, L].
class HEARTH_API BatchNorm1dImpl : public BatchNormImplBase<1, BatchNorm1dImpl> {
 public:
  using BatchNormImplBase<1, BatchNorm1dImpl>::BatchNormImplBase;
};
HEARTH_MODULE(BatchNorm1d);

/// Batch normalization of [N, C, H, W].
class HEARTH_API BatchNorm2dImpl : public BatchNormImplBase<2, BatchNorm2dImpl> {
 public:
  using BatchNormImplBase<2, BatchNorm2dImpl>::BatchNormImplBase;
};
HEARTH_MODULE(BatchNorm2d);

/// Batch normalization of [N, C, D, H, W].
class HEARTH_API BatchNorm3dImpl : public BatchNormImplBase<3, BatchNorm3dImpl> {
 public:
  using BatchNormImplBase<3, BatchNorm3dImpl>::BatchNormImplBase;
};
HEARTH_MODULE(BatchNorm3d);

extern template class NormImplBase<1, BatchNorm1dImpl, BatchNormOptions>;
extern template class NormImplBase<2, BatchNorm2dImpl, BatchNormOptions>;
extern template class NormImplBase<3, BatchNorm3dImpl, BatchNormOptions>;
extern template class BatchNormImplBase<1, BatchNorm1dImpl>;
extern template class BatchNormImplBase<2, BatchNorm2dImpl>;
extern template class BatchNormImplBase<3, BatchNorm3dImpl>;

/// (input - mean) / sqrt(var + eps) * weight + bias over the last dimensions, whose sizes are
/// normalized_shape.
class HEARTH_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape);
  explicit LayerNormImpl(LayerNormOptions options_);
  void reset() override;
  void reset_parameters();  ///< sets weight 1 and bias 0
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
HEARTH_MODULE(LayerNorm);

/// input / sqrt(mean(input^2) + eps) * weight over the last dimensions, whose sizes are
/// normalized_shape.
class HEARTH_API RMSNormImpl : public Cloneable<RMSNormImpl> {
 public:
  RMSNormImpl(std::vector<int64_t> normalized_shape);
  explicit RMSNormImpl(RMSNormOptions options_);
  void reset() override;
  void reset_parameters();  ///< sets weight 1
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  RMSNormOptions options;
  Tensor weight;
};
HEARTH_MODULE(RMSNorm);

/// (input - mean) / sqrt(var + eps) * weight + bias of [N, C, …], with mean and variance per group
/// of channels, weight and bias per channel.
class HEARTH_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels);
  explicit GroupNormImpl(const GroupNormOptions& options_);
  void reset() override;
  void reset_parameters();  ///< sets weight 1 and bias 0
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GroupNormOptions options;
  Tensor weight;
  Tensor bias;
};
HEARTH_MODULE(GroupNorm);

namespace functional {

/// Options of batch_norm, as in BatchNormOptions.
struct HEARTH_API BatchNormFuncOptions {
  HEARTH_ARG(Tensor, weight);          ///< a factor, or undefined
  HEARTH_ARG(Tensor, bias);            ///< a summand, or undefined
  HEARTH_ARG(bool, training) = false;  ///< whether to use the batch's statistics
  HEARTH_ARG(double, momentum) = 0.1;  ///< weight of a batch in the running statistics
  HEARTH_ARG(double, eps) = 1e-5;      ///< added to the variance
};
/// Options of layer_norm, as in LayerNormOptions.
struct HEARTH_API LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  HEARTH_ARG(std::vector<int64_t>, normalized_shape);  ///< sizes of the last dimensions
  HEARTH_ARG(Tensor, weight);                          ///< a factor, or undefined
  HEARTH_ARG(Tensor, bias);                            ///< a summand, or undefined
  HEARTH_ARG(double, eps) = 1e-5;                      ///< added to the variance
};
/// Options of rms_norm, as in RMSNormOptions.
struct HEARTH_API RMSNormFuncOptions {
  RMSNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  HEARTH_ARG(std::vector<int64_t>, normalized_shape);  ///< sizes of the last dimensions
  HEARTH_ARG(Tensor, weight);                          ///< a factor, or undefined
  HEARTH_ARG(std::optional<double>, eps);              ///< added to the mean square
};
/// Options of normalize.
struct HEARTH_API NormalizeFuncOptions {
  HEARTH_ARG(double, p) = 2.0;             ///< the p of the p-norm
  HEARTH_ARG(int64_t, dim) = 1;            ///< the dimension of the vectors
  HEARTH_ARG(double, eps) = 1e-12;         ///< the smallest divisor
  HEARTH_ARG(std::optional<Tensor>, out);  ///< receives the result, unless nullopt
};
/// Options of group_norm, as in GroupNormOptions.
struct HEARTH_API GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
  HEARTH_ARG(int64_t, num_groups);  ///< must divide the number of channels
  HEARTH_ARG(Tensor, weight);       ///< a factor, or undefined
  HEARTH_ARG(Tensor, bias);         ///< a summand, or undefined
  HEARTH_ARG(double, eps) = 1e-5;   ///< added to the variance
};

/// As BatchNorm2d, for any number of dimensions after the channels.
HEARTH_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                             const Tensor& running_var, const BatchNormFuncOptions& options = {});
/// As LayerNorm.
HEARTH_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
/// As RMSNorm.
HEARTH_API Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);
/// input / max(its p-norm along dim, eps).
HEARTH_API Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});
/// As GroupNorm.
HEARTH_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);

}  // namespace functional

}  // namespace hearth::nn
