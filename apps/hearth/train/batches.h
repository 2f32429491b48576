#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "examples.h"
#include "options.h"

namespace hearth::app {

class Processes;

/// Chooses one process's part of each batch, which all processes share. As in PyTorch's
/// DistributedSampler, some examples of the last batch are in several parts if it cannot be divided
/// equally. A last batch with at most one example for each process joins the one before it, because
/// batch normalization needs two; with batches of one example per process, it does not join.
class PartSampler : public data::samplers::Sampler<> {
 public:
  PartSampler(int64_t size, int64_t rank, int64_t processes)
      : size_(size), rank_(rank), processes_(processes), all_(size) {}

  void reset(std::optional<size_t> new_size) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override { all_.save(archive); }
  void load(serialize::InputArchive& archive) override { all_.load(archive); }
  /// Continues an epoch after its first `taken` examples: the next reset() keeps its order. `epoch`
  /// is what save() wrote.
  void continue_after(int64_t taken, serialize::InputArchive& epoch);

  /// The number of batches in an epoch.
  static int64_t batches(int64_t size, int64_t batch_size, int64_t processes);

 private:
  int64_t size_, rank_, processes_;
  data::samplers::RandomSampler all_;  // the same on all processes
  bool keeps_order_ = false;
};

/// The training batches of this process.
class Batches {
 public:
  /// `seen`: the number of examples of this epoch that all processes together have used.
  Batches(const Examples& examples, const RunOptions& run, int64_t batch_size, bool pin_memory,
          const Processes& processes, const int64_t& seen);

  auto begin() { return loader_->begin(); }
  auto end() { return loader_->end(); }
  void save(serialize::OutputArchive& archive) const;
  /// Another number of processes may have saved the archive. `seen` must be loaded before.
  void load(serialize::InputArchive& archive);

 private:
  using Loader = data::StatelessDataLoader<Examples, PartSampler>;

  const int64_t processes_;
  const int64_t& seen_;
  std::unique_ptr<Loader> loader_;
};

/// The examples in a batch of one process.
int64_t batch_size_of_process(const TrainOptions& options, const RunOptions& run,
                              const Processes& processes);
/// The number of steps in an epoch of `examples` examples.
int64_t steps_per_epoch(const TrainOptions& options, const RunOptions& run, int64_t examples,
                        const Processes& processes);

}  // namespace hearth::app
