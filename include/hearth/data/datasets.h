#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/data/example.h"
#include "hearth/data/workers.h"
#include "hearth/io/archive.h"

namespace hearth::data::datasets {

template <class SourceDataset, class AppliedTransform>
class MapDataset;
template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform);

namespace detail {
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class SourceDataset, class AppliedTransform>
struct is_map<MapDataset<SourceDataset, AppliedTransform>> : std::true_type {};
template <bool condition, class T>
using optional_if_t = std::conditional_t<condition, std::optional<T>, T>;
}  // namespace detail

/// Base of all datasets: returns a batch for a request. `Self` is the derived class.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = detail::is_optional<BatchType>::value;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;  ///< such as the examples with these indices
  virtual std::optional<size_t> size() const = 0;     ///< the number of examples, if it is known

  /// This dataset with a transform applied to its batches.
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

/// A dataset that returns single examples by index.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;  ///< the example at 0 <= index < size()

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    const data::detail::PositionGuard position;
    for (size_t i = 0; i < indices.size(); ++i) {
      position.set(i);
      batch.push_back(get(indices[i]));
    }
    return batch;
  }
};

/// A dataset whose request is a number of examples instead of indices.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

/// A dataset with a position of its own, which ends by returning nullopt. All workers of a loader
/// share it; with enforce_ordering, they call it one after the other in the batches' order.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  virtual void reset() = 0;                                        ///< begins a new epoch
  virtual void save(serialize::OutputArchive& archive) const = 0;  ///< saves the position
  virtual void load(serialize::InputArchive& archive) = 0;         ///< loads the position
};

/// A dataset with a transform applied to its batches.
template <class SourceDataset, class AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          detail::optional_if_t<SourceDataset::is_stateful,
                                                typename AppliedTransform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType =
      detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    return transformed(get_source_batch(std::move(request)));
  }
  /// First half of get_batch: the innermost dataset's batch; transformed() is the second half.
  auto get_source_batch(BatchRequestType request) {
    if constexpr (detail::is_map<SourceDataset>::value)
      return dataset_.get_source_batch(std::move(request));
    else
      return dataset_.get_batch(std::move(request));
  }
  template <class SourceBatch>
  OutputBatchType transformed(SourceBatch batch) {
    if constexpr (detail::is_map<SourceDataset>::value)
      return apply(dataset_.transformed(std::move(batch)));
    else
      return apply(std::move(batch));
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  void reset() { dataset_.reset(); }
  void save(serialize::OutputArchive& archive) const { dataset_.save(archive); }
  void load(serialize::InputArchive& archive) { dataset_.load(archive); }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  OutputBatchType apply(typename SourceDataset::BatchType batch) {
    if constexpr (SourceDataset::is_stateful) {
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(std::move(batch));
    }
  }

  SourceDataset dataset_;
  AppliedTransform transform_;
};

/// `dataset` with `transform` applied to its batches.
template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  using Batch = typename DatasetType::BatchType;
  if constexpr (DatasetType::is_stateful)
    static_assert(
        std::is_same_v<typename Batch::value_type, typename TransformType::InputBatchType>,
        "BatchType type of dataset does not match input type of transform");
  else
    static_assert(std::is_same_v<Batch, typename TransformType::InputBatchType>,
                  "BatchType type of dataset does not match input type of transform");
  return {std::move(dataset), std::move(transform)};
}

/// A dataset that all workers share, instead of one copy per worker.
template <class UnderlyingDataset>
class SharedBatchDataset : public BatchDataset<SharedBatchDataset<UnderlyingDataset>,
                                               typename UnderlyingDataset::BatchType,
                                               typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;

  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> dataset) : dataset_(std::move(dataset)) {}

  BatchType get_batch(BatchRequestType request) override {
    return dataset_->get_batch(std::move(request));
  }
  std::optional<size_t> size() const override { return dataset_->size(); }
  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }
  void reset() { dataset_->reset(); }
  void save(serialize::OutputArchive& archive) const { dataset_->save(archive); }
  void load(serialize::InputArchive& archive) { dataset_->load(archive); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};

/// A SharedBatchDataset of UnderlyingDataset(args...).
template <class UnderlyingDataset, class... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...);
}

/// A dataset of a tensor's slices along its first dimension.
struct HEARTH_API TensorDataset : Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors);  ///< stacks the tensors
  explicit TensorDataset(Tensor tensor_);
  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override;

  Tensor tensor;
};

}  // namespace hearth::data::datasets

namespace hearth::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace hearth::data
