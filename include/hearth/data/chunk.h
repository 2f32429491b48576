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
    if (ready_examples_.empty()) return std::nullopt;
    Examples batch;
    while (!ready_examples_.empty() && batch.size() < options_.batch_size()) {
      batch.push_back(std::move(ready_examples_.front()));
      ready_examples_.pop_front();
    }
    lock.unlock();
    writable_.notify_all();
    return batch;
  }

  /// Waits for room, then adds the examples of chunks read together, in the sampler's order.
  template <class Sampler>
  void add(Examples examples, Sampler& sampler) {
    std::unique_lock lock(mutex_);
    while (!ended_ && ready_examples_.size() >= options_.cache_size()) writable_.wait(lock);
    if (ended_) return;
    sampler.reset(examples.size());
    while (const auto indices = sampler.next(examples.size()))
      for (const size_t index : *indices) {
        HEARTH_CHECK_AS(IndexError, index < examples.size(), "Index out of range");
        ready_examples_.push_back(std::move(examples[index]));
      }
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
  const ChunkDatasetOptions options_;
  std::mutex mutex_;
  data::detail::Condition readable_, writable_;
  std::deque<typename Examples::value_type> ready_examples_;
  std::deque<std::exception_ptr> errors_;
  bool ended_ = false;
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
    return buffer_->get();
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
    seed_ = data::detail::draw_seed();
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
      read(chunks);
    } catch (...) {
      error = std::current_exception();
    }
    // Outside the handler, so that the thread in get_batch() holds the last reference to the
    // exception.
    if (error) buffer_->add(std::move(error));
    return has_chunks;
  }

  void read(const std::vector<size_t>& chunks) {
    UnwrappedBatchType examples = chunk_reader_.read_chunk(chunks.front());
    for (size_t i = 1; i < chunks.size(); ++i)
      for (auto& example : chunk_reader_.read_chunk(chunks[i]))
        examples.push_back(std::move(example));
    if (preprocessing_policy_) preprocessing_policy_(examples);
    if (!examples.empty()) buffer_->add(std::move(examples), example_sampler_);
  }

  ChunkReader chunk_reader_;
  ChunkSamplerType chunk_sampler_;
  ExampleSamplerType example_sampler_;  // guarded by the buffer's lock
  const ChunkDatasetOptions options_;
  Policy preprocessing_policy_;
  mutable std::mutex mutex_;  // guards the chunk sampler and the next four members
  bool stopped_ = false, resuming_ = false;
  size_t next_group_ = 0, running_threads_ = 0;
  uint64_t seed_ = 0;
  std::unique_ptr<Buffer> buffer_;
  data::detail::Threads threads_;
};

}  // namespace hearth::data::datasets
