#include "hearth/data/dataloader.h"

#include <bit>

#include "hearth/cuda.h"

namespace hearth::data {

namespace {

/// Limit against absurd values: each worker is a thread and may copy the dataset.
constexpr size_t kMaxWorkers = 4096;

}  // namespace

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(2 * workers)),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()),
      pin_memory(options.pin_memory()) {
  HEARTH_CHECK_AS(ValueError, workers <= kMaxWorkers, "a data loader has at most ", kMaxWorkers,
                  " workers, but workers=", workers);
  HEARTH_CHECK_AS(ValueError, workers == 0 || max_jobs > 0,
                  "max_jobs should be positive if there are workers");
  if (pin_memory && !cuda::is_available()) {
    warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned "
        "memory won't be used.");
    pin_memory = false;
  }
}

namespace detail {

void LoaderPosition::save(serialize::OutputArchive& archive) const {
  archive.write("in_epoch", IValue(in_epoch));
  archive.write("batches", IValue(batches));
  archive.write("drew", IValue(drew));
  archive.write("seed", IValue(std::bit_cast<int64_t>(seed)));
  archive.write("batch_size", IValue(batch_size));
  if (size) archive.write("size", IValue(*size));
}

void LoaderPosition::load(serialize::InputArchive& archive) {
  size_t saved_batch_size = 0, saved_size = 0;
  int64_t saved_seed = 0;
  archive.read("in_epoch", in_epoch);
  archive.read("batches", batches);
  archive.read("drew", drew);
  archive.read("seed", saved_seed);
  archive.read("batch_size", saved_batch_size);
  HEARTH_CHECK(!in_epoch || saved_batch_size == batch_size,
               "the data loader's state was saved in an epoch with batch size ", saved_batch_size,
               "; this loader's batch size is ", batch_size);
  if (size && archive.try_read("size", saved_size))
    HEARTH_CHECK(saved_size == *size, "the data loader's state was saved for a dataset of ",
                 saved_size, " examples; this one has ", *size);
  seed = std::bit_cast<uint64_t>(saved_seed);
}

}  // namespace detail
}  // namespace hearth::data
