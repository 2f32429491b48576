#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/data/example.h"
#include "hearth/data/workers.h"
#include "hearth/generator.h"
#include "hearth/io/archive.h"
#include "hearth/scalar.h"

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
  virtual Batch get_batch(BatchRequest request) = 0;  ///< for example the examples at these indices
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

/// A dataset with a position of its own; get_batch() returns nullopt at the end of an epoch. All
/// workers of a loader share it; with enforce_ordering, they call it one after the other in the
/// batches' order.
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

/// Examples held in two tensors, data and targets, that are selected a batch at a time: a batch is
/// one Example of stacked tensors, and no tensor is made for a single example.
class HEARTH_API BatchedTensors : public BatchDataset<BatchedTensors, Example<>> {
 public:
  BatchedTensors(Tensor data, Tensor targets);
  Example<> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override;

 private:
  Tensor data_, targets_;
};

namespace detail {
/// The elements of `list` at `positions`.
HEARTH_API std::vector<size_t> pick(ArrayRef<size_t> list, ArrayRef<size_t> positions);
}  // namespace detail

/// A copy of a dataset, restricted to the examples at `indices`.
template <class DatasetType>
class Subset : public BatchDataset<Subset<DatasetType>, typename DatasetType::BatchType> {
 public:
  using BatchType = typename DatasetType::BatchType;

  Subset(DatasetType dataset, std::vector<size_t> indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {}
  BatchType get_batch(ArrayRef<size_t> request) override {
    return dataset_.get_batch(detail::pick(indices_, request));
  }
  auto get(size_t index) { return dataset_.get(detail::pick(indices_, index).front()); }
  std::optional<size_t> size() const override { return indices_.size(); }
  const DatasetType& dataset() const noexcept { return dataset_; }
  const std::vector<size_t>& indices() const noexcept { return indices_; }

 private:
  static_assert(!DatasetType::is_stateful, "Subset needs a dataset with indices");

  DatasetType dataset_;
  std::vector<size_t> indices_;
};

/// The lengths of random_split()'s parts, or their fractions, which add up to 1.
struct HEARTH_API SplitLengths {
  SplitLengths(std::initializer_list<Scalar> lengths);
  template <class T>
  SplitLengths(const std::vector<T>& lengths) : values(lengths.begin(), lengths.end()) {}

  std::vector<double> values;
};

namespace detail {
/// Draws the indices of each part.
HEARTH_API std::vector<std::vector<size_t>> split(const std::optional<size_t>& size,
                                                  ArrayRef<double> lengths,
                                                  std::optional<Generator> generator);
}  // namespace detail

/// Splits a dataset at random into parts, each with a copy of the dataset.
template <class DatasetType>
std::vector<Subset<DatasetType>> random_split(DatasetType dataset, const SplitLengths& lengths,
                                              std::optional<Generator> generator = std::nullopt) {
  std::vector<Subset<DatasetType>> parts;
  for (auto& indices : detail::split(dataset.size(), lengths.values, std::move(generator)))
    parts.emplace_back(dataset, std::move(indices));
  return parts;
}

namespace detail {
/// Appends the sum of the last element and the size of one more dataset.
HEARTH_API void append_size(std::vector<size_t>& cumulative_sizes, std::optional<size_t> size);
/// (Index of a dataset, index in that dataset) of example `index` of the concatenation.
HEARTH_API std::pair<size_t, size_t> locate(ArrayRef<size_t> cumulative_sizes, size_t index);
}  // namespace detail

/// The concatenation of datasets with the same type of batch.
template <class Batch>
class ConcatDataset : public BatchDataset<ConcatDataset<Batch>, Batch> {
 public:
  template <class DatasetType>
  explicit ConcatDataset(std::vector<DatasetType> datasets) {
    HEARTH_CHECK(!datasets.empty(), "datasets should not be an empty iterable");
    for (auto& dataset : datasets) add(std::move(dataset));
  }
  template <class First, class Second, class... Rest>
  ConcatDataset(First first, Second second, Rest... rest) {
    add(std::move(first));
    add(std::move(second));
    (add(std::move(rest)), ...);
  }

  Batch get_batch(ArrayRef<size_t> indices) override {
    Batch batch;
    batch.reserve(indices.size());
    const data::detail::PositionGuard position;
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto [dataset, index] = detail::locate(cumulative_sizes_, indices[i]);
      try {
        batch.push_back(std::move(datasets_[dataset](index).front()));
      } catch (...) {
        position.set(i);  // for the error text; the dataset has set 0, as its batch has one example
        throw;
      }
    }
    return batch;
  }
  std::optional<size_t> size() const override { return cumulative_sizes_.back(); }
  const std::vector<size_t>& cumulative_sizes() const noexcept { return cumulative_sizes_; }

 private:
  template <class DatasetType>
  void add(DatasetType&& dataset) {
    static_assert(std::is_same_v<typename DatasetType::BatchType, Batch>,
                  "ConcatDataset needs datasets with the same type of batch");
    detail::append_size(cumulative_sizes_, dataset.size());
    datasets_.push_back(
        [dataset = std::move(dataset)](size_t index) mutable { return dataset.get_batch(index); });
  }

  // Each returns the example at an index, as a batch.
  std::vector<std::function<Batch(size_t)>> datasets_;
  std::vector<size_t> cumulative_sizes_;
};
template <class DatasetType>
ConcatDataset(std::vector<DatasetType>) -> ConcatDataset<typename DatasetType::BatchType>;
template <class First, class Second, class... Rest>
ConcatDataset(First, Second, Rest...) -> ConcatDataset<typename First::BatchType>;

}  // namespace hearth::data::datasets

namespace hearth::data {
using datasets::BatchDataset;
using datasets::ConcatDataset;
using datasets::Dataset;
using datasets::random_split;
using datasets::Subset;
}  // namespace hearth::data
