#pragma once

#include "functors/families.h"
#include "kernels/cpu/isa.h"
#include "seam/pointwise.h"

namespace hearth::cpu {

/// A block: computes one formula on n contiguous elements. `out` may be one of the inputs;
/// otherwise it overlaps none.
using BlockFn = void (*)(const void* functor, const void* const* in, void* out, int64_t n);
/// Converts n contiguous elements; the ranges do not overlap.
using ConvertFn = void (*)(const void* from, void* to, int64_t n);

/// A conversion between any two dtypes: `direct`, or for a dtype without kernels in steps
/// (stored_convert.cpp).
struct Conversion {
  ConvertFn direct;
  ScalarType from, to;

  void operator()(const void* source, void* result, int64_t n) const {
    if (direct) [[likely]]
      direct(source, result, n);
    else
      in_steps(source, result, n);
  }
  void in_steps(const void* source, void* result, int64_t n) const;
};

/// The blocks of one functor by compute dtype; null where a formula is not defined. Half types have
/// none: they are converted to float and back.
struct FunctorBlocks {
  BlockFn blocks[kFormulas][kScalarTypeSlots] = {};
  /// Whether the functor's value is a bool, stored as one byte.
  bool is_test = false;

  BlockFn block(Formula formula, ScalarType lanes) const {
    if (!has_kernels(lanes)) return nullptr;
    return blocks[static_cast<int>(formula)][static_cast<int>(lanes)];
  }
};

/// The blocks of one functor's value for complex64 and complex128; null where it is not defined.
struct ComplexBlocks {
  BlockFn blocks[2] = {};
};

/// The conversions between the dtypes with kernels; null from a dtype to itself.
struct ConvertTable {
  ConvertFn convert[kScalarTypeSlots][kScalarTypeSlots] = {};  // [from][to]
};

/// The pointwise kernels of one instruction set.
struct PointwiseTable {
  const FunctorBlocks* families[fn::kFamilyCount];
  const ComplexBlocks* complex_families[fn::kFamilyCount];  // the same for all instruction sets
  const ConvertTable* conversions;

  const FunctorBlocks& functor(int number) const {
    return families[fn::family_of(number)][fn::place_of(number)];
  }
  BlockFn block(int number, Formula formula, ScalarType lanes) const {
    if (!is_complex(lanes)) return functor(number).block(formula, lanes);
    if (formula != Formula::kValue) return nullptr;
    return complex_families[fn::family_of(number)][fn::place_of(number)]
        .blocks[lanes == kComplexDouble];
  }
  Conversion convert(ScalarType from, ScalarType to) const {
    if (!has_kernels(from) || !has_kernels(to)) return {nullptr, from, to};
    return {conversions->convert[static_cast<int>(from)][static_cast<int>(to)], from, to};
  }
};

// Each of these functions is defined in a source of its own, which CMake generates: the blocks of a
// family's functors, in the order of its List, from pointwise_@family@_@target@.cpp.in and
// pointwise_complex_@family@.cpp.in, and the conversions from convert_@target@.cpp.in.
#define HEARTH_DECLARE_UNITS(function, Result)  \
  Result function(AtLevel<IsaLevel::kGeneric>); \
  Result function(AtLevel<IsaLevel::kAvx2>);    \
  Result function(AtLevel<IsaLevel::kAvx512>);
#define HEARTH_DECLARE_BLOCKS(Family)                            \
  HEARTH_DECLARE_UNITS(blocks_of_##Family, const FunctorBlocks*) \
  const ComplexBlocks* complex_##Family();
HEARTH_FUNCTOR_FAMILIES(HEARTH_DECLARE_BLOCKS)
HEARTH_DECLARE_UNITS(conversions, const ConvertTable*)
#undef HEARTH_DECLARE_BLOCKS
#undef HEARTH_DECLARE_UNITS

/// The table of an instruction set; null if this build has none for it.
const PointwiseTable* pointwise_table(IsaLevel level);
/// The table for this processor.
const PointwiseTable& pointwise_table();

/// The dtype of the blocks that compute in dtype `compute`.
constexpr ScalarType lane_dtype(ScalarType compute) {
  return is_reduced_float(compute) ? kFloat : compute;
}

/// Whether run() supports this formula in this dtype; launching any other is an error.
bool pointwise_supported(int functor, Formula formula, ScalarType compute);

/// run() with a given table and without copy_transposed(): for tests and benchmarks of one
/// instruction set.
void run_with(const PointwiseTable& table, const PointwiseParams& params);

}  // namespace hearth::cpu
