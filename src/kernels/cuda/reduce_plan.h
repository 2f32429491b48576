#pragma once

#include <cstdint>

#include "kernels/cuda/loop.h"

namespace hearth::cuda {

/// How a block's threads share the outputs of a reduction and the elements of each.
struct TilePlan {
  int64_t outputs = 0;
  int64_t reduced = 0;       // elements of one output
  int64_t split_length = 0;  // elements of one output that one block takes
  int splits = 1;            // blocks per output
  int log_parts = 0;         // 2^log_parts threads per output
  bool parts_adjacent =
      false;  // neighbouring threads share an output: its elements lie together in memory
};

/// The plan for a reduction; depends on shapes and strides alone.
TilePlan plan_tiles(const Loop& kept, const Loop& reduced);
/// The plan for merging the states that plan's splits leave.
TilePlan plan_merge(const TilePlan& plan);
/// The number of blocks along the outputs.
unsigned tiles_of(const TilePlan& plan);

}  // namespace hearth::cuda
