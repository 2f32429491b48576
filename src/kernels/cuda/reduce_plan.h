#pragma once

#include <cstdint>

#include "kernels/cuda/loop.h"

namespace hearth::cuda {

/// The distribution of a reduction's outputs, and of the elements of each output, among blocks and
/// their threads.
struct TilePlan {
  int64_t outputs = 0;
  int64_t reduced = 0;       // elements of one output
  int64_t split_length = 0;  // elements of one output that one block reduces
  int splits = 1;            // blocks per output
  int log_threads = 0;       // 2^log_threads threads of a block per output
  // If true, adjacent threads share an output, whose elements are adjacent in memory; else they
  // compute adjacent outputs.
  bool by_rows = false;
};

/// The plan for a reduction; depends on shapes and strides alone.
TilePlan plan_tiles(const Loop& kept, const Loop& reduced);
/// The plan for merging the states of the plan's splits.
TilePlan plan_merge(const TilePlan& plan);
/// The number of blocks along the outputs.
unsigned tiles_of(const TilePlan& plan);

}  // namespace hearth::cuda
