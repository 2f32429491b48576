#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hearth/io/serialize.h"
#include "hearth/tensor.h"

namespace hearth::data::samplers {

/// Base of samplers, which choose the examples of each batch.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Begins a new epoch, optionally with another dataset size.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next batch's request, or nullopt at the end of the epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;  ///< saves the position
  virtual void load(serialize::InputArchive& archive) = 0;         ///< loads the position
};

/// Chooses the indices 0, 1, 2, … in order.
class HEARTH_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }

 private:
  size_t size_, index_ = 0;
};

/// Chooses indices by a new random permutation in each epoch, drawn from the default generator.
class HEARTH_API RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, Dtype index_dtype = kInt64);
  ~RandomSampler() override;
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return static_cast<size_t>(index_); }

 private:
  Tensor indices_;
  int64_t index_ = 0;
};

/// Base of requests that are not lists of indices.
struct HEARTH_API CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  virtual ~CustomBatchRequest();
  virtual size_t size() const = 0;
};

/// A request for a number of examples.
struct HEARTH_API BatchSize : CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }

  size_t size_;
};

/// Requests numbers of examples until `epoch_size` examples have been requested.
class HEARTH_API StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t epoch_size_, retrieved_ = 0;
};

}  // namespace hearth::data::samplers
