#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/data/datasets.h"
#include "hearth/data/samplers.h"
#include "hearth/data/threads.h"
#include "hearth/data/workers.h"

namespace hearth::data::datasets {

/// Interface for reading data that is stored in chunks, such as files.
template <class ExampleType_, class ChunkType_ = std::vector<ExampleType_>>
class ChunkDataReader {
 public:
  using ChunkType = ChunkType_;
  using BatchType = ChunkType_;
  using ExampleType = ExampleType_;

  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;  ///< called by all preloader threads
  virtual size_t chunk_count() = 0;                      ///< the number of chunks
  virtual void reset() = 0;                              ///< called before each new epoch
};

/// Options of ChunkDataset.
struct HEARTH_API ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1);

  HEARTH_ARG(size_t, preloader_count);                ///< threads that read chunks
  HEARTH_ARG(size_t, batch_size);                     ///< examples per batch
  HEARTH_ARG(size_t, cache_size) = 2048;              ///< examples read ahead before threads wait
  HEARTH_ARG(size_t, cross_chunk_shuffle_count) = 1;  ///< chunks that are shuffled together
};

namespace detail {

/// Queue of examples that preloaders have read and the caller has not yet taken.
template <class Examples>
class ChunkBuffer {
 public:
  explicit ChunkBuffer(const ChunkDatasetOptions& options) : options_(options) {}

  /// Returns the next batch (the last may be smaller), or nullopt after the last one. Throws a
  /// WorkerException if a preloader has failed.
  std::optional<Examples> get() {
    std::unique_lock lock(mutex_);
    while (!ended_ && errors_.empty() && ready_examples_.size() < options_.batch_size())
      readable_.wait(lock);
    if (!errors_.empty()) {
      const std::exception_ptr error = errors_.front();
      errors_.pop_front();
      throw WorkerException(error, "in a preloader of chunks");
    }
    const size_t ready = ready_examples_.size(), limit = options_.batch_size();
    const size_t size = ready < limit ? ready : limit;
    count_draws(size);
    if (size == 0) return std::nullopt;
    Examples batch;
    while (batch.size() < size) {
      batch.push_back(std::move(ready_examples_.front()));
      ready_examples_.pop_front();
    }
    lock.unlock();
    writable_.notify_all();
    return batch;
  }

  /// Waits for room, then adds the examples of chunks read together, in the sampler's order. Their
  /// random numbers are those of `seed`.
  template <class Sampler>
  void add(Examples examples, Sampler& sampler, const data::detail::SeedGuard& seed) {
    std::unique_lock lock(mutex_);
    while (!ended_ && ready_examples_.size() >= options_.cache_size()) writable_.wait(lock);
    if (ended_) return;
    const size_t before = ready_examples_.size();
    if (!examples.empty()) append(std::move(examples), sampler);
    if (!until_drawn_ && seed.drew()) until_drawn_ = before;
    lock.unlock();
    readable_.notify_all();
  }
  void add(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      errors_.push_back(std::move(error));
    }
    readable_.notify_all();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    readable_.notify_all();
    writable_.notify_all();
  }

 private:
  template <class Sampler>
  void append(Examples examples, Sampler& sampler) {
    sampler.reset(examples.size());
    while (const auto indices = sampler.next(examples.size()))
      for (const size_t index : *indices) {
        HEARTH_CHECK_AS(IndexError, index < examples.size(), "Index out of range");
        ready_examples_.push_back(std::move(examples[index]));
      }
  }

  /// Before a batch is taken, which is empty at the end of the epoch: if its chunks drew random
  /// numbers, the default generator advances once, so that the next epoch draws others. If no
  /// chunks do, the generator's state stays equal to LibTorch's.
  void count_draws(size_t batch_size) {
    if (counted_ || !until_drawn_) return;
    counted_ = batch_size == 0 || batch_size > *until_drawn_;
    if (counted_)
      data::detail::draw_seed();
    else
      *until_drawn_ -= batch_size;
  }

  const ChunkDatasetOptions options_;
  std::mutex mutex_;
  data::detail::Condition readable_, writable_;
  std::deque<typename Examples::value_type> ready_examples_;
  std::deque<std::exception_ptr> errors_;
  std::optional<size_t> until_drawn_;  // examples before the first whose chunks drew numbers
  bool counted_ = false, ended_ = false;
};

}  // namespace detail

/// A dataset too large for memory. Threads read chunks ahead in the order of `ChunkSampler`;
/// `ExampleSampler` orders the examples of the chunks that are read together.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                             typename ChunkReader::BatchType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  using Policy = std::function<void(UnwrappedBatchType&)>;

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, Policy preprocessing_policy = Policy())
      : chunk_reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocessing_policy_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { stop(); }

  BatchType get_batch(size_t batch_size) override {
    HEARTH_CHECK(buffer_, "Dataset needs to call reset() before calling get_batch().");
    HEARTH_CHECK(batch_size == options_.batch_size(),
                 "The requested batch size does not match with the initialized batch size.\n"
                 " The requested batch size is ",
                 batch_size, ", while the dataset is created with batch size equal to ",
                 options_.batch_size());
    BatchType batch = buffer_->get();
    if (!batch) {
      const std::lock_guard lock(mutex_);
      running_.reset();
    }
    return batch;
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSamplerType& chunk_sampler() { return chunk_sampler_; }

  /// Begins a new epoch, or continues the loaded one.
  void reset() override {
    stop();
    if (!resuming_) {
      chunk_reader_.reset();
      chunk_sampler_.reset(chunk_reader_.chunk_count());
    }
    resuming_ = false;
    buffer_ = std::make_unique<Buffer>(options_);
    running_ = std::make_unique<data::detail::RunningEpoch>();
    seed_ = running_->seed();
    next_group_ = 0;
    running_threads_ = options_.preloader_count();
    threads_.start(
        running_threads_, [this](size_t) { preload(); }, [this] { buffer_->end(); });
  }
  /// Saves the chunk sampler's position, which counts the chunks that preloaders have taken.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.reset(chunk_reader_.chunk_count());
    chunk_sampler_.load(archive);
    resuming_ = true;
  }

 private:
  using Buffer = detail::ChunkBuffer<UnwrappedBatchType>;

  void stop() {
    running_.reset();
    if (buffer_) {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      buffer_->end();
    }
    threads_.join();
    stopped_ = false;
  }

  /// Gets the next group of chunks, which are read together, and its index in the epoch. False at
  /// the end of the epoch.
  bool next_chunks(std::vector<size_t>& chunks, size_t& group) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    auto next = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
    if (!next) return false;
    chunks = std::move(*next);
    group = next_group_++;
    return true;
  }

  void preload() {
    while (preload_next()) continue;
    const std::lock_guard lock(mutex_);
    if (--running_threads_ == 0) buffer_->end();
  }

  bool preload_next() {
    // An error of the chunk sampler ends this thread; a later error loses the chunks being read.
    bool has_chunks = false;
    std::exception_ptr error;
    try {
      std::vector<size_t> chunks;
      size_t group;
      if (!next_chunks(chunks, group)) return false;
      has_chunks = true;
      const data::detail::SeedGuard seed(seed_, group);
      read(chunks, seed);
    } catch (...) {
      error = std::current_exception();
    }
    // Outside the handler, so that the thread in get_batch() holds the last reference to the
    // exception.
    if (error) buffer_->add(std::move(error));
    return has_chunks;
  }

  void read(const std::vector<size_t>& chunks, const data::detail::SeedGuard& seed) {
    UnwrappedBatchType examples = chunk_reader_.read_chunk(chunks.front());
    for (size_t i = 1; i < chunks.size(); ++i)
      for (auto& example : chunk_reader_.read_chunk(chunks[i]))
        examples.push_back(std::move(example));
    if (preprocessing_policy_) preprocessing_policy_(examples);
    buffer_->add(std::move(examples), example_sampler_, seed);
  }

  ChunkReader chunk_reader_;
  ChunkSamplerType chunk_sampler_;
  ExampleSamplerType example_sampler_;  // guarded by the buffer's lock
  const ChunkDatasetOptions options_;
  Policy preprocessing_policy_;
  mutable std::mutex mutex_;  // guards the chunk sampler and the next five members
  bool stopped_ = false, resuming_ = false;
  std::unique_ptr<data::detail::RunningEpoch> running_;  // until the caller has all batches
  size_t next_group_ = 0, running_threads_ = 0;
  uint64_t seed_ = 0;
  std::unique_ptr<Buffer> buffer_;
  data::detail::Threads threads_;
};

}  // namespace hearth::data::datasets
