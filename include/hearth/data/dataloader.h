#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/data/batch_job.h"
#include "hearth/data/iterator.h"
#include "hearth/data/options.h"
#include "hearth/data/samplers.h"
#include "hearth/data/workers.h"
#include "hearth/io/archive.h"

namespace hearth::data {

namespace detail {

/// Position of a data loader, sufficient to continue in the middle of an epoch.
struct HEARTH_API LoaderPosition {
  bool in_epoch = false;
  size_t batches = 0;          // batches of this epoch that the caller has taken
  uint64_t seed = 0;           // this epoch's seed
  bool drew = false;           // whether one of these batches drew random numbers
  std::optional<size_t> size;  // the dataset's size
  size_t batch_size = 0;

  void save(serialize::OutputArchive& archive) const;
  /// Throws if the archive was saved for another dataset size or, in an epoch, another batch size.
  void load(serialize::InputArchive& archive);
};

}  // namespace detail

/// Iterates over a dataset in batches, which worker threads may prepare ahead.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  virtual ~DataLoaderBase() = default;
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  /// Begins an epoch, or continues the loaded one.
  Iterator<Batch> begin() {
    HEARTH_CHECK(in_flight() == 0 || iterator_.expired(),
                 "Attempted to get a new DataLoader iterator while another iterator is not yet "
                 "exhausted");
    check_workers();
    if (prefetcher_) prefetcher_->drain();
    const detail::RunningEpoch running;
    start_epoch(running);
    if (prefetcher_) prefetch(options_.max_jobs);
    Iterator<Batch> iterator([this, num_loads = num_loads_, running] {
      HEARTH_CHECK(num_loads == num_loads_,
                   "the data loader has loaded another position: call begin() to continue there");
      return this->next();
    });
    iterator_ = iterator.alive();
    return iterator;
  }
  Iterator<Batch> end() { return Iterator<Batch>(); }

  /// Ends the worker threads; a loader that has some cannot be used afterwards.
  void join() {
    prefetcher_ = Prefetcher();
    joined_ = options_.workers > 0;
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

  /// The state after the last batch that the caller has taken, regardless of batches that workers
  /// have prepared ahead (except StatefulDataLoader).
  serialize::OutputArchive state_dict() const {
    serialize::OutputArchive archive;
    save(archive);
    return archive;
  }
  /// Makes the next begin() continue from the saved state; existing iterators throw.
  void load_state_dict(const serialize::OutputArchive& state) {
    serialize::InputArchive archive(state);
    load(archive);
  }
  void save(serialize::OutputArchive& archive) const {
    HEARTH_CHECK(options_.enforce_ordering || !position_.in_epoch,
                 "a data loader without enforce_ordering cannot save its position in an epoch");
    position_.save(archive);
    if (position_.in_epoch && rewinds())
      archive.write("source", source_);
    else
      archive.write("source", source_state());
  }
  void load(serialize::InputArchive& archive) {
    detail::LoaderPosition position = position_;
    position.load(archive);
    serialize::InputArchive source;
    archive.read("source", source);
    if (prefetcher_) prefetcher_->drain();
    load_source(source);
    position_ = position;
    ++num_loads_;
    if (rewinds()) source_ = source_state();
    resuming_ = position.in_epoch;
  }

 protected:
  /// `datasets`: one per worker, or one that all workers share.
  DataLoaderBase(const FullDataLoaderOptions& options,
                 std::vector<std::unique_ptr<Dataset>> datasets)
      : options_(options), datasets_(std::move(datasets)) {
    position_.batch_size = options_.batch_size;
    position_.size = datasets_.front()->size();
    if (options_.workers > 0)
      prefetcher_ = Prefetcher(new detail::Prefetcher(options_.workers, options_.enforce_ordering));
  }

  /// LibTorch's form, for a program's own loaders: the workers share the dataset.
  explicit DataLoaderBase(DataLoaderOptions options,
                          std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : DataLoaderBase(FullDataLoaderOptions(options), only(std::move(main_thread_dataset))) {}

  /// The next batch's request, or nullopt at the end of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  /// Begins the next epoch of the source, which is the sampler or a stateful dataset.
  virtual void reset() {}
  virtual void save_source(serialize::OutputArchive&) const { fail_saving(); }
  virtual void load_source(serialize::InputArchive&) { fail_saving(); }
  /// Whether the source's state is saved at the start of an epoch and replayed up to the caller's
  /// position. If not, reset() after load_source() continues the loaded epoch.
  virtual bool rewinds() const { return false; }

  const FullDataLoaderOptions options_;
  std::vector<std::unique_ptr<Dataset>> datasets_;

 private:
  using Job = detail::BatchJob<Dataset, Batch, BatchRequest>;
  using Prefetcher = hearth::detail::OwnedPtr<detail::Prefetcher>;

  static std::vector<std::unique_ptr<Dataset>> only(std::unique_ptr<Dataset> dataset) {
    HEARTH_CHECK(dataset, "DataLoaderBase: the dataset is null");
    std::vector<std::unique_ptr<Dataset>> datasets;
    datasets.push_back(std::move(dataset));
    return datasets;
  }
  [[noreturn]] static void fail_saving() {
    hearth::detail::fail<Error>("the data loader does not define save_source() and load_source()");
  }

  size_t in_flight() const { return prefetcher_ ? prefetcher_->in_flight() : 0; }

  serialize::OutputArchive source_state() const {
    serialize::OutputArchive state;
    save_source(state);
    return state;
  }

  void start_epoch(const detail::RunningEpoch& running) {
    if (!resuming_ || !rewinds()) reset();
    if (resuming_) {
      for (size_t i = 0; rewinds() && i < position_.batches && get_batch_request(); ++i) continue;
    } else {
      if (rewinds()) source_ = source_state();
      position_.in_epoch = true;
      position_.batches = 0;
      position_.seed = running.seed();
      position_.drew = false;
    }
    resuming_ = false;
    next_batch_ = position_.batches;
    std::optional<size_t> first_turn;
    if (Dataset::is_stateful && prefetcher_ && options_.enforce_ordering) first_turn = next_batch_;
    epoch_ = detail::make_epoch(position_.seed, first_turn);
  }

  std::unique_ptr<Job> next_job() {
    auto request = get_batch_request();
    if (!request) return nullptr;
    return std::make_unique<Job>(epoch_, next_batch_++, datasets_, std::move(*request),
                                 options_.pin_memory);
  }

  void prefetch(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      auto job = next_job();
      if (!job) return;
      prefetcher_->submit(hearth::detail::OwnedPtr<detail::Job>(job.release()));
    }
  }

  void check_workers() const {
    HEARTH_CHECK(!joined_, "the data loader was joined: its workers have ended");
  }

  std::optional<Batch> next() {
    check_workers();
    while (auto job = prefetcher_ ? take() : run_here()) {
      if (!job->batch) continue;
      ++position_.batches;
      return std::move(job->batch);
    }
    position_.in_epoch = false;
    position_.batches = 0;
    return std::nullopt;
  }

  /// Batches draw random numbers from their epoch's seed. If a batch drew any, the default
  /// generator advances, so that the next epoch gets another seed; if none did, the generator's
  /// state stays equal to LibTorch's.
  void count_draws(const Job& job) {
    if (position_.drew || !job.drew()) return;
    position_.drew = true;
    detail::draw_seed();
  }

  std::unique_ptr<Job> take() {
    std::unique_ptr<Job> job(static_cast<Job*>(prefetcher_->take(options_.timeout).release()));
    if (!job) return nullptr;
    if (job->failed() || job->batch) prefetch(1);
    count_draws(*job);
    if (job->failed()) {
      ++position_.batches;
      job->rethrow_from_worker();
    }
    return job;
  }

  std::unique_ptr<Job> run_here() {
    auto job = next_job();
    if (!job) return nullptr;
    job->run(0, 0);
    count_draws(*job);
    if (job->failed()) {
      ++position_.batches;
      job->rethrow();
    }
    return job->batch ? std::move(job) : nullptr;
  }

  detail::LoaderPosition position_;
  serialize::OutputArchive source_;  // the source's state at the start of the epoch
  bool resuming_ = false, joined_ = false;
  size_t next_batch_ = 0;  // index of the next batch to request
  size_t num_loads_ = 0;   // number of calls of load()
  std::shared_ptr<const detail::Epoch> epoch_;
  std::weak_ptr<const void> iterator_;
  Prefetcher prefetcher_;  // last: its jobs use all other members
};

/// A loader whose sampler chooses the examples of a batch. Each worker has a copy of the dataset.
template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType,
                                                  typename Sampler::BatchRequestType> {
 public:
  using super =
      DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename super::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, const DataLoaderOptions& options)
      : StatelessDataLoader(std::move(dataset), std::move(sampler),
                            FullDataLoaderOptions(options)) {}

  Sampler& sampler() { return sampler_; }  ///< for example to call set_epoch()

 private:
  /// Takes checked options, so that an error is thrown before the dataset is copied.
  StatelessDataLoader(Dataset&& dataset, Sampler&& sampler, const FullDataLoaderOptions& options)
      : super(options, copies(std::move(dataset), options.workers)), sampler_(std::move(sampler)) {}

  /// One copy per worker, created in order; without workers the dataset itself.
  static std::vector<std::unique_ptr<Dataset>> copies(Dataset&& dataset, size_t workers) {
    std::vector<std::unique_ptr<Dataset>> result;
    for (size_t i = 0; i < workers; ++i) {
      Dataset copy(std::as_const(dataset));
      result.push_back(std::make_unique<Dataset>(std::move(copy)));
    }
    if (workers == 0) result.push_back(std::make_unique<Dataset>(std::move(dataset)));
    return result;
  }

  std::optional<BatchRequestType> get_batch_request() override {
    auto request = sampler_.next(this->options_.batch_size);
    if (!request || (request->size() < this->options_.batch_size && this->options_.drop_last))
      return std::nullopt;
    HEARTH_CHECK(request->size() > 0,
                 "the sampler returned an empty batch for batch_size=", this->options_.batch_size);
    return request;
  }
  void reset() override { sampler_.reset(std::nullopt); }
  void save_source(serialize::OutputArchive& archive) const override { sampler_.save(archive); }
  void load_source(serialize::InputArchive& archive) override { sampler_.load(archive); }
  bool rewinds() const override { return true; }

  Sampler sampler_;
};

/// A loader of a stateful dataset, which all workers share. In the middle of an epoch, state_dict()
/// has the dataset's position, which is ahead of the caller if there are workers.
template <class Dataset>
class StatefulDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                                                 typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                               typename Dataset::BatchRequestType>;
  using typename super::BatchRequestType;

  StatefulDataLoader(Dataset dataset, const DataLoaderOptions& options)
      : super(FullDataLoaderOptions(options), single(std::move(dataset))) {}

 private:
  static std::vector<std::unique_ptr<Dataset>> single(Dataset&& dataset) {
    std::vector<std::unique_ptr<Dataset>> result;
    result.push_back(std::make_unique<Dataset>(std::move(dataset)));
    return result;
  }
  Dataset& dataset() const { return *this->datasets_.front(); }

  std::optional<BatchRequestType> get_batch_request() override {
    return BatchRequestType(this->options_.batch_size);
  }
  void reset() override { dataset().reset(); }
  void save_source(serialize::OutputArchive& archive) const override { dataset().save(archive); }
  void load_source(serialize::InputArchive& archive) override { dataset().load(archive); }
  bool rewinds() const override { return false; }
};

/// A loader of `dataset` whose batches `sampler` chooses.
template <class Dataset, class Sampler>
std::enable_if_t<!Dataset::is_stateful, std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset),
                                                                 std::move(sampler), options);
}
/// A loader of `dataset` with a new Sampler(dataset.size()), by default a RandomSampler.
template <class Sampler = samplers::RandomSampler, class Dataset>
std::enable_if_t<!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>,
                 std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  HEARTH_CHECK(size, "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}
/// A loader of a stateful dataset.
template <class Dataset, class = std::enable_if_t<Dataset::is_stateful>>
std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(Dataset dataset,
                                                              DataLoaderOptions options = {}) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace hearth::data
