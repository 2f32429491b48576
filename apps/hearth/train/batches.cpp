#include "batches.h"

#include <algorithm>

#include "../usage.h"
#include "hearth/hearth.h"
#include "processes.h"

namespace hearth::app {

namespace {

constexpr const char* kProcesses = "processes";

/// The number of examples in the next batch of all processes.
int64_t next_count(int64_t remaining, int64_t batch_size, int64_t processes) {
  const int64_t count = std::min(batch_size * processes, remaining);
  return batch_size > 1 && remaining - count <= processes ? remaining : count;
}

}  // namespace

void PartSampler::reset(std::optional<size_t> new_size) {
  if (!std::exchange(keeps_order_, false)) all_.reset(new_size);
}

std::optional<std::vector<size_t>> PartSampler::next(size_t batch_size) {
  const int64_t remaining = size_ - static_cast<int64_t>(all_.index());
  const int64_t count = next_count(remaining, static_cast<int64_t>(batch_size), processes_);
  const auto batch = all_.next(static_cast<size_t>(count));
  if (!batch) return std::nullopt;
  std::vector<size_t> part;
  const int64_t part_size = (count - 1) / processes_ + 1;
  for (int64_t i = 0; i < part_size; ++i)
    part.push_back((*batch)[static_cast<size_t>((i * processes_ + rank_) % count)]);
  return part;
}

void PartSampler::continue_after(int64_t taken, serialize::InputArchive& epoch) {
  all_.load(epoch);
  // If the epoch itself was continued before, the archive has the index at that time.
  HEARTH_CHECK(taken >= static_cast<int64_t>(all_.index()), "the epoch begins after ", all_.index(),
               " examples, but ", taken, " have been used");
  if (const size_t rest = static_cast<size_t>(taken) - all_.index()) all_.next(rest);
  keeps_order_ = true;
}

int64_t PartSampler::batches(int64_t size, int64_t batch_size, int64_t processes) {
  const int64_t whole = std::max<int64_t>(size / (batch_size * processes), 1);
  const int64_t rest = size - whole * batch_size * processes;
  return rest > (batch_size > 1 ? processes : 0) ? whole + 1 : whole;
}

Batches::Batches(const Examples& examples, const RunOptions& run, int64_t batch_size,
                 bool pin_memory, const Processes& processes, const int64_t& seen)
    : processes_(processes.count()),
      seen_(seen),
      loader_(data::make_data_loader(
          examples, PartSampler(examples.count(), processes.rank(), processes.count()),
          data::DataLoaderOptions(static_cast<size_t>(batch_size))
              .workers(static_cast<size_t>(run.num_workers))
              .pin_memory(pin_memory))) {}

void Batches::save(serialize::OutputArchive& archive) const {
  loader_->save(archive);
  archive.write(kProcesses, IValue(processes_));
}

void Batches::load(serialize::InputArchive& archive) {
  int64_t processes = 1;
  if (archive.contains(kProcesses)) archive.read(kProcesses, processes);
  if (processes == processes_) return loader_->load(archive);
  if (seen_ == 0) return;  // a new epoch begins
  serialize::InputArchive epoch;
  archive.read("source", epoch);
  loader_->sampler().continue_after(seen_, epoch);
}

int64_t batch_size_of_process(const TrainOptions& options, const RunOptions& run,
                              const Processes& processes) {
  if (!options.split_batches) return run.batch_size;
  HEARTH_CHECK_AS(
      UsageError, run.batch_size % processes.count() == 0, "--split-batches: a batch of ",
      run.batch_size, " cannot be divided equally among ", processes.count(), " processes",
      options.batch_range ? ": give --batch-size a list of multiples of this number, not a range"
                          : "");
  return run.batch_size / processes.count();
}

int64_t steps_per_epoch(const TrainOptions& options, const RunOptions& run, int64_t examples,
                        const Processes& processes) {
  const int64_t batches = PartSampler::batches(
      examples, batch_size_of_process(options, run, processes), processes.count());
  return (batches - 1) / options.accumulate + 1;
}

}  // namespace hearth::app
