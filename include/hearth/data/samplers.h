#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/generator.h"
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

namespace detail {

/// Base of samplers that draw an epoch's indices at once.
class HEARTH_API DrawnSampler : public Sampler<> {
 public:
  ~DrawnSampler() override;
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  /// Saves the indices drawn and the state of the sampler's own generator, if it has one.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return static_cast<size_t>(index_); }

 protected:
  /// `first`: the first epoch's indices; if undefined, the first next() draws them.
  explicit DrawnSampler(Tensor first, std::optional<Generator> generator = std::nullopt);
  virtual Tensor draw(std::optional<size_t> new_size) = 0;  ///< an epoch's indices
  virtual void check(const Tensor& loaded) const = 0;  ///< throws unless draw() can return these

  Tensor indices_;
  std::optional<Generator> generator_;

 private:
  int64_t index_ = 0;
  bool drawn_;
};

}  // namespace detail

/// Chooses indices by a new random permutation in each epoch, drawn from the default generator.
class HEARTH_API RandomSampler : public detail::DrawnSampler {
 public:
  explicit RandomSampler(int64_t size, Dtype index_dtype = kInt64);
  ~RandomSampler() override;

 private:
  Tensor draw(std::optional<size_t> new_size) override;
  void check(const Tensor& loaded) const override;
};

/// Chooses `num_samples` indices with probabilities proportional to `weights`.
class HEARTH_API WeightedRandomSampler : public detail::DrawnSampler {
 public:
  WeightedRandomSampler(Tensor weights, int64_t num_samples, bool replacement = true,
                        std::optional<Generator> generator = std::nullopt);
  WeightedRandomSampler(ArrayRef<double> weights, int64_t num_samples, bool replacement = true,
                        std::optional<Generator> generator = std::nullopt);
  ~WeightedRandomSampler() override;

 private:
  Tensor draw(std::optional<size_t> new_size) override;
  void check(const Tensor& loaded) const override;

  Tensor weights_;
  int64_t num_samples_;
  bool replacement_;
};

/// Chooses the given indices in a new random order in each epoch.
class HEARTH_API SubsetRandomSampler : public detail::DrawnSampler {
 public:
  explicit SubsetRandomSampler(const std::vector<size_t>& indices,
                               std::optional<Generator> generator = std::nullopt);
  ~SubsetRandomSampler() override;

 private:
  Tensor draw(std::optional<size_t> new_size) override;
  void check(const Tensor& loaded) const override;

  Tensor subset_;
};

namespace detail {
HEARTH_API void check_rank(size_t rank, size_t num_replicas);
}  // namespace detail

/// Base of samplers for one of `num_replicas` processes that share a dataset. If num_replicas does
/// not divide the size, some examples are in several parts (allow_duplicates) or in none.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                     bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    detail::check_rank(rank, num_replicas);
  }
  void set_epoch(size_t epoch) { epoch_ = epoch; }  ///< the seed of the next reset()'s shuffle
  size_t epoch() const { return epoch_; }

 protected:
  size_t local_sample_count() const {
    return (size_ + (allow_duplicates_ ? num_replicas_ - 1 : 0)) / num_replicas_;
  }

  size_t size_, num_replicas_, rank_, epoch_ = 0;
  bool allow_duplicates_;
};

namespace detail {

/// Gives each process a consecutive part of the indices, which are in order or shuffled.
class HEARTH_API DistributedPart : public DistributedSampler<> {
 public:
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  /// A state saved by one process can be loaded by all.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }  ///< the position among all processes' indices

 protected:
  DistributedPart(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates,
                  bool shuffled);

 private:
  std::vector<size_t> order_;  // of all processes; empty unless shuffled
  size_t index_ = 0, order_epoch_ = 0;
  bool shuffled_;
};

}  // namespace detail

/// Chooses this process's part of all indices, which are shuffled with the epoch as seed.
class HEARTH_API DistributedRandomSampler : public detail::DistributedPart {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                           bool allow_duplicates = true);
  ~DistributedRandomSampler() override;
};

/// Chooses this process's part of all indices, in order.
class HEARTH_API DistributedSequentialSampler : public detail::DistributedPart {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                               bool allow_duplicates = true);
  ~DistributedSequentialSampler() override;
};

namespace detail {

/// The part of BatchSampler that does not depend on the source's type.
class HEARTH_API Batcher : public Sampler<> {
 public:
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  /// Throws if `batch_size` is neither 1, the loader's default, nor the sampler's own.
  std::optional<std::vector<size_t>> next(size_t batch_size = 1) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  Batcher(int64_t batch_size, bool drop_last);
  virtual Sampler<>& source() = 0;
  virtual const Sampler<>& source() const = 0;

 private:
  size_t batch_size_;
  bool drop_last_;
};

}  // namespace detail

/// Makes batches of another sampler's indices. The loader's own batch size stays at its default.
template <class Source>
class BatchSampler : public detail::Batcher {
 public:
  BatchSampler(Source sampler, int64_t batch_size, bool drop_last)
      : Batcher(batch_size, drop_last), sampler_(std::move(sampler)) {}
  Source& sampler() { return sampler_; }  ///< the sampler of the indices
  const Source& sampler() const { return sampler_; }

 private:
  Sampler<>& source() override { return sampler_; }
  const Sampler<>& source() const override { return sampler_; }

  Source sampler_;
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
