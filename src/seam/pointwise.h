#pragma once

#include <cstdint>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// Bytes of the largest functor, which is passed by value.
inline constexpr int kFunctorBytes = 32;

/// The formula of a functor that a kernel computes: its value or one of its gradients.
enum class Formula : int8_t { kValue = 0, kGradA = 1, kGradB = 2, kGradC = 3 };
inline constexpr int kFormulas = 4;
/// grad_c of a ternary functor reads g, a, b and c.
inline constexpr int kMaxOperands = kMaxPointwiseInputs + 1;

/// One operand of an elementwise loop. `number` holds a CPU number among device operands.
struct Operand {
  void* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  bool is_number = false;
  int64_t strides[kMaxDims];  // in elements; 0 where broadcast
  alignas(16) unsigned char number[16];

  const void* address() const { return is_number ? number : data; }
};

/// out = functor.formula(in...) over one shape, whose dimensions are sorted by stride and merged:
/// the last one is the fastest in memory. Inputs are converted to the dtype `compute`, and the
/// result of the formula to the dtype of out. A number of another dtype is not rounded to a half
/// type.
struct PointwiseParams {
  int16_t functor = 0;  // its number (functors/families.h)
  Formula formula = Formula::kValue;
  int8_t inputs = 0;
  ScalarType compute = ScalarType::Undefined;
  int8_t dim = 0;
  int64_t numel = 0;
  int64_t sizes[kMaxDims];
  Operand out;
  Operand in[kMaxOperands];
  alignas(16) unsigned char parameters[kFunctorBytes];
};

}  // namespace hearth
