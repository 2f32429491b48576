#include "kernels/cuda/reduce_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

// The number of blocks that fills a device: a constant, so that sums are the same on every device.
constexpr int64_t kEnoughBlocks = 1024;
constexpr int64_t kMinElementsPerThread = 16;  // of each split
constexpr int kLogWarp = 5;
// If there are several outputs, at most 8 threads merge the splits of each.
constexpr int kMaxLogMergeThreads = 3;

int floor_log2(int64_t value) { return std::bit_width(static_cast<uint64_t>(value)) - 1; }

/// Returns the first input's smallest stride.
int64_t smallest_stride(const Loop& loop) {
  int64_t smallest = INT64_MAX;
  for (int d = 0; d < loop.dim; ++d)
    if (loop.sizes[d] != 1)  // else the stride has no meaning
      smallest = std::min(smallest, std::abs(loop.byte_strides[d][0]));
  return smallest;
}

}  // namespace

TilePlan plan_tiles(const Loop& kept, const Loop& reduced) {
  TilePlan plan;
  plan.outputs = kept.numel();
  plan.reduced = reduced.numel();
  plan.split_length = plan.reduced;
  plan.by_rows = kept.dim == 0 || smallest_stride(reduced) <= smallest_stride(kept);
  const int max_log_threads = std::min(kLogBlock, floor_log2(std::max<int64_t>(plan.reduced, 1)));
  if (plan.by_rows) {
    plan.log_threads = max_log_threads;
  } else {
    // Adjacent threads compute adjacent outputs; 32 of them make full memory transactions.
    const int log_outputs = std::min(kLogWarp, floor_log2(plan.outputs));
    plan.log_threads = std::min(max_log_threads, kLogBlock - log_outputs);
  }
  const int64_t threads = int64_t{1} << plan.log_threads;
  const int64_t max_splits = std::max<int64_t>(plan.reduced / (threads * kMinElementsPerThread), 1);
  const int64_t splits = std::clamp<int64_t>(kEnoughBlocks / tiles_of(plan), 1, max_splits);
  plan.split_length = (plan.reduced + splits - 1) / splits;
  plan.splits = plan.reduced == 0
                    ? 1
                    : static_cast<int>((plan.reduced + plan.split_length - 1) / plan.split_length);
  return plan;
}

TilePlan plan_merge(const TilePlan& plan) {
  TilePlan merge = plan;
  merge.by_rows = plan.outputs == 1;
  merge.log_threads =
      std::min(floor_log2(plan.splits), plan.outputs == 1 ? kLogBlock : kMaxLogMergeThreads);
  return merge;
}

unsigned tiles_of(const TilePlan& plan) {
  const int64_t per_tile = kBlock >> plan.log_threads;
  return static_cast<unsigned>(
      std::min<int64_t>((plan.outputs + per_tile - 1) / per_tile, INT32_MAX));
}

}  // namespace hearth::cuda
