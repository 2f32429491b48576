#pragma once

#include <cstdint>

#include "functors/optim.h"

namespace hearth::cpu {

/// What a step's loop needs besides memory.
struct StepArgs {
  const void* rule;
  fn::StepFactors factors;
  double grad_scale;  // 1: gradients are left as they are
  bool maximize;
};

/// Updates n elements of dense operands in the order the rule takes them.
using StepFn = void (*)(const StepArgs& args, void* const* data, int64_t n);

/// By rule and by whether the elements are doubles, else floats.
struct OptimTable {
  StepFn steps[fn::OptimRules::size][2] = {};
};

extern const OptimTable optim_table_avx2;
extern const OptimTable optim_table_avx512;
extern const OptimTable optim_table_generic;

}  // namespace hearth::cpu
