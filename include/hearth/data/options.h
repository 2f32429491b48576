#pragma once

#include <cstddef>
#include <mutex>  // std::chrono::milliseconds: <chrono> itself takes a tenth of a second to compile
#include <optional>

#include "hearth/arg.h"
#include "hearth/export.h"

namespace hearth::data {

/// Batch size, worker threads and ordering of a data loader.
struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  HEARTH_ARG(size_t, batch_size) = 1;  ///< examples per batch
  HEARTH_ARG(size_t, workers) = 0;     ///< threads that prepare batches; 0: the caller's own thread
  HEARTH_ARG(std::optional<size_t>, max_jobs);  ///< batches prepared ahead, by default 2 * workers
  /// Longest time to wait for a batch.
  HEARTH_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Whether batches keep the sampler's order; otherwise the first finished batch comes first.
  HEARTH_ARG(bool, enforce_ordering) = true;
  HEARTH_ARG(bool, drop_last) = false;  ///< whether an incomplete last batch is dropped
  /// Whether batches are copied to pinned memory, from which copies to a GPU are asynchronous.
  HEARTH_ARG(bool, pin_memory) = false;
};

/// Checked options with all defaults filled in.
struct HEARTH_API FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options);

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
  bool pin_memory;
};

}  // namespace hearth::data
