#include "kernels/cuda/reduce_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr int64_t kEnoughBlocks =
    1024;  // a device is full; a constant, for the same sums on every device
constexpr int64_t kShortestChain =
    16;  // elements per thread below which another block does not pay

int floor_log2(int64_t value) { return std::bit_width(static_cast<uint64_t>(value)) - 1; }

/// The first input's smallest stride.
int64_t smallest_stride(const Loop& loop) {
  int64_t smallest = INT64_MAX;
  for (int d = 0; d < loop.dim; ++d)
    if (loop.sizes[d] != 1)  // its stride is never taken
      smallest = std::min(smallest, std::abs(loop.byte_strides[d][0]));
  return smallest;
}

}  // namespace

TilePlan plan_tiles(const Loop& kept, const Loop& reduced) {
  TilePlan plan;
  plan.outputs = kept.numel();
  plan.reduced = reduced.numel();
  plan.split_length = plan.reduced;
  plan.parts_adjacent = kept.dim == 0 || smallest_stride(reduced) <= smallest_stride(kept);
  const int useful_parts = std::min(8, floor_log2(std::max<int64_t>(plan.reduced, 1)));
  if (plan.parts_adjacent) {
    plan.log_parts = useful_parts;
  } else {
    // Neighbours take neighbouring outputs; 32 of them make full memory transactions.
    const int outputs_wanted = std::min(5, floor_log2(plan.outputs));
    plan.log_parts = std::min(useful_parts, 8 - outputs_wanted);
  }
  const int64_t parts = int64_t{1} << plan.log_parts;
  const int64_t most = std::max<int64_t>(plan.reduced / (parts * kShortestChain), 1);
  const int64_t splits = std::clamp<int64_t>(kEnoughBlocks / tiles_of(plan), 1, most);
  plan.split_length = (plan.reduced + splits - 1) / splits;
  plan.splits = plan.reduced == 0
                    ? 1
                    : static_cast<int>((plan.reduced + plan.split_length - 1) / plan.split_length);
  return plan;
}

TilePlan plan_merge(const TilePlan& plan) {
  TilePlan merge = plan;
  merge.parts_adjacent = plan.outputs == 1;
  merge.log_parts = std::min(floor_log2(plan.splits), plan.outputs == 1 ? 8 : 3);
  return merge;
}

unsigned tiles_of(const TilePlan& plan) {
  const int64_t per_tile = kBlock >> plan.log_parts;
  return static_cast<unsigned>(
      std::min<int64_t>((plan.outputs + per_tile - 1) / per_tile, INT32_MAX));
}

}  // namespace hearth::cuda
