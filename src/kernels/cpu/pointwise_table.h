#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/pointwise.h"

namespace hearth::cpu {

/// Computes one formula on n contiguous elements. `out` may be one of the inputs, or overlap none.
using BlockFn = void (*)(const void* functor, const void* const* in, void* out, int64_t n);
/// Converts n contiguous elements; the ranges do not overlap.
using ConvertFn = void (*)(const void* from, void* to, int64_t n);

/// What a SIMD unit offers. Half types have no blocks: they are converted to float and back.
struct PointwiseTable {
  BlockFn blocks[fn::All::size][kFormulas][kScalarTypeSlots] = {};
  /// Whether the formula's value is a bool, stored as one byte.
  bool is_test[fn::All::size] = {};
  ConvertFn convert[kScalarTypeSlots][kScalarTypeSlots] = {};  // [from][to]
};

/// The table for a processor; null if this build has none for it.
const PointwiseTable* pointwise_table(IsaLevel level);
/// The table for this processor.
const PointwiseTable& pointwise_table();

/// The dtype in which blocks of `compute` are evaluated.
constexpr ScalarType lane_dtype(ScalarType compute) {
  return is_reduced_float(compute) ? kFloat : compute;
}

/// Whether run() can compute this; nothing else may be launched.
bool pointwise_supported(int functor, Formula formula, ScalarType compute);

/// run() with a given table: for tests and benchmarks of one instruction set.
void run_with(const PointwiseTable& table, const PointwiseParams& params);

}  // namespace hearth::cpu
