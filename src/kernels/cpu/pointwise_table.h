#pragma once

#include "functors/families.h"
#include "kernels/cpu/isa.h"
#include "seam/pointwise.h"

namespace hearth::cpu {

/// Computes one formula on n contiguous elements. `out` may be one of the inputs, or overlap none.
using BlockFn = void (*)(const void* functor, const void* const* in, void* out, int64_t n);
/// Converts n contiguous elements; the ranges do not overlap.
using ConvertFn = void (*)(const void* from, void* to, int64_t n);

/// The blocks of one functor by computed dtype; null where a formula is not defined. Half types
/// have none: they are converted to float and back.
struct FunctorBlocks {
  BlockFn blocks[kFormulas][kScalarTypeSlots] = {};
  /// Whether the functor's value is a bool, stored as one byte.
  bool is_test = false;

  BlockFn block(Formula formula, ScalarType lanes) const {
    return blocks[static_cast<int>(formula)][static_cast<int>(lanes)];
  }
};

/// The conversions between all dtypes; null from a dtype to itself.
struct ConvertTable {
  ConvertFn convert[kScalarTypeSlots][kScalarTypeSlots] = {};  // [from][to]
};

/// What the SIMD units of one target offer.
struct PointwiseTable {
  const FunctorBlocks* families[fn::kFamilyCount];
  const ConvertTable* conversions;

  const FunctorBlocks& functor(int number) const {
    return families[fn::family_of(number)][fn::place_of(number)];
  }
  ConvertFn convert(ScalarType from, ScalarType to) const {
    return conversions->convert[static_cast<int>(from)][static_cast<int>(to)];
  }
};

// Each of these is defined in a unit of its own: the blocks of a family's functors, in the order of
// its List, in what the build makes of pointwise_@family@_@target@.cpp.in.
#define HEARTH_DECLARE_UNITS(function, Result)  \
  Result function(AtLevel<IsaLevel::kGeneric>); \
  Result function(AtLevel<IsaLevel::kAvx2>);    \
  Result function(AtLevel<IsaLevel::kAvx512>);
#define HEARTH_DECLARE_BLOCKS(Family) HEARTH_DECLARE_UNITS(blocks_of_##Family, const FunctorBlocks*)
HEARTH_FUNCTOR_FAMILIES(HEARTH_DECLARE_BLOCKS)
HEARTH_DECLARE_UNITS(conversions, const ConvertTable*)
#undef HEARTH_DECLARE_BLOCKS
#undef HEARTH_DECLARE_UNITS

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
