#pragma once

#include "functors/families.h"
#include "kernels/cuda/offsets.h"
#include "seam/pointwise.h"

namespace hearth::cuda {

// Apart from the functor, all contiguous kernels have the argument ContiguousArgs, and all strided
// ones StridedArgs: their launch is no template over functors and types, which would take 90 % of
// the host's compile time.

/// An operand of a kernel: an address or, if that is null, a number of the compute type.
struct KernelInput {
  const char* data;
  ScalarType dtype;
  alignas(16) unsigned char number[16];
};

/// For operands that are contiguous, aligned and of the compute dtype.
struct ContiguousArgs {
  int64_t numel;
  void* out;
  KernelInput in[kMaxOperands];
};

/// For operands of any dtypes and strides.
struct StridedArgs {
  int64_t numel;
  ScalarType compute, out_dtype;
  char* out;
  KernelInput in[kMaxOperands];
  Offsets<kMaxOperands + 1> offsets;  // the output's first
};

/// The kernels of one formula by compute dtype; null where the formula is not defined.
struct FormulaKernels {
  const void* contiguous[kScalarTypeSlots];  // (F, ContiguousArgs)
  const void* strided[kScalarTypeSlots];     // (F, StridedArgs)
};

/// A functor's kernels.
struct FunctorRow {
  const char* name;
  bool returns_bool;  // for the value; gradients are never bool
  FormulaKernels formulas[kFormulas];
};

/// Whether an operand has a dtype without kernels.
bool has_stored_operand(const PointwiseParams& params);
/// run() for such operands; `result` is the dtype of the formula's result.
void run_stored(const PointwiseParams& params, ScalarType result, Ctx& ctx);

// The rows of each family, in the order of its List; defined in the sources that CMake generates
// from pointwise_@family@.cu.in.
#define HEARTH_DECLARE_ROWS(Family) const FunctorRow* rows_of_##Family();
HEARTH_FUNCTOR_FAMILIES(HEARTH_DECLARE_ROWS)
#undef HEARTH_DECLARE_ROWS

}  // namespace hearth::cuda
