#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "hearth/arg.h"
#include "hearth/export.h"

namespace hearth::data {

/// How a data loader works.
struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  HEARTH_ARG(size_t, batch_size) = 1;
  /// Threads that make batches ahead; with 0, the caller makes them itself.
  HEARTH_ARG(size_t, workers) = 0;
  /// How many batches are made ahead; twice the workers if it is not set.
  HEARTH_ARG(std::optional<size_t>, max_jobs);
  /// How long to wait for a batch.
  HEARTH_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Whether batches come in the sampler's order, and not as they are ready.
  HEARTH_ARG(bool, enforce_ordering) = true;
  /// Whether a last batch with too few examples is left out.
  HEARTH_ARG(bool, drop_last) = false;
  /// Whether batches are copied into pinned memory, from which copies to a GPU are asynchronous.
  HEARTH_ARG(bool, pin_memory) = false;
};

/// The options, checked, with their defaults filled in.
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
