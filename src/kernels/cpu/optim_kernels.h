#pragma once

#include <cstdint>

#include "functors/optim.h"

namespace hearth::cpu {

/// The arguments of a step's loop besides its data.
struct StepArgs {
  const void* rule;
  fn::StepFactors factors;
  double grad_scale;  // the gradients are divided by it in place; 1 leaves them unchanged
  bool maximize;
};

/// Updates n elements of dense operands, which are in the order of the rule's arguments.
using StepFn = void (*)(const StepArgs& args, void* const* data, int64_t n);

/// The loops for float and double elements.
struct OptimTable {
  StepFn steps[fn::OptimRules::size][2] = {};  // [rule][is double]
};

extern const OptimTable optim_table_avx2;
extern const OptimTable optim_table_avx512;
extern const OptimTable optim_table_generic;

}  // namespace hearth::cpu
