#pragma once

#include <cstdint>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// Bytes of the largest functor (its parameters travel by value).
inline constexpr int kFunctorBytes = 32;

/// Which of a functor's formulas a kernel computes.
enum class Formula : int8_t { kValue = 0, kGradA = 1, kGradB = 2, kGradC = 3 };
inline constexpr int kFormulas = 4;
/// grad_c of a ternary functor reads g, a, b and c.
inline constexpr int kMaxOperands = kMaxPointwiseInputs + 1;

/// One operand of an elementwise loop. A CPU number among device operands travels in `number`.
struct Operand {
  void* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  bool is_number = false;
  int64_t strides[kMaxDims];  // in elements; 0 where broadcast
  alignas(16) unsigned char number[16];

  const void* address() const { return is_number ? number : data; }
};

/// out = functor.formula(in...) over one shape, whose dimensions were sorted and merged: the last
/// is the fastest in memory. Operands of other dtypes are converted to `compute` on the way in and
/// from the formula's result on the way out.
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

namespace cpu {
void run(const PointwiseParams& params, Ctx& ctx);
}
namespace cuda {
void run(const PointwiseParams& params, Ctx& ctx);
}

}  // namespace hearth
