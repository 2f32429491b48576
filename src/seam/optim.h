#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "functors/optim.h"
#include "hearth/half.h"
#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The maximum number of tensors per parameter: the parameter, its gradient and its state.
inline constexpr int kStepOperands = 5;

/// One parameter of a step.
struct StepTensor {
  void* data[kStepOperands] = {};
  int64_t numel = 0;
  double step = 1;                // the number of this step, from 1
  const void* step_at = nullptr;  // if not null, device memory that holds the number
  int32_t layout = -1;  // index in FusedStepParams::layouts; -1: all are dense, in one order
};

/// Reads a number of a floating dtype.
inline double number_at(const void* address, ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Double: return *static_cast<const double*>(address);
    case ScalarType::Half: return *static_cast<const Half*>(address);
    case ScalarType::BFloat16: return *static_cast<const BFloat16*>(address);
    default: return *static_cast<const float*>(address);
  }
}

/// Sizes and each operand's strides, in elements.
struct StepLayout {
  int8_t dim = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[kStepOperands][kMaxDims];
};

/// One optimizer step for many parameters of one floating dtype, by a rule of fn::OptimRules.
/// Gradients are divided in place by *grad_scale. To maximize, their negations are used. If
/// *found_inf is 1, nothing is written.
struct FusedStepParams {
  int rule = 0;                             // index in fn::OptimRules
  alignas(8) unsigned char parameters[64];  // the rule, by value
  int operands = 0;
  ScalarType dtype = ScalarType::Undefined;
  ScalarType step_dtype = ScalarType::Float;  // of the numbers at StepTensor::step_at
  bool maximize = false;
  float* grad_scale = nullptr;  // in device memory, like found_inf; both may be null
  float* found_inf = nullptr;
  std::vector<StepTensor> tensors;
  std::vector<StepLayout> layouts;

  template <class F>
  void set_rule(const F& f) {
    static_assert(sizeof(F) <= sizeof parameters && std::is_trivially_copyable_v<F>);
    rule = fn::index_of<F, fn::OptimRules>;
    operands = F::operands;
    std::memcpy(parameters, &f, sizeof f);
  }
};

}  // namespace hearth
