#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "functors/optim.h"
#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The most tensors that belong to one parameter: itself, its gradient and its state.
inline constexpr int kStepOperands = 5;

/// One parameter of a step.
struct StepTensor {
  void* data[kStepOperands] = {};
  int64_t numel = 0;
  double step = 1;                 // how many there have been, this one included
  const float* step_at = nullptr;  // where it is read from instead, in the device's memory
  int32_t layout = -1;             // in FusedStepParams::layouts; -1: all lie alike, without gaps
};

/// Sizes and each operand's strides, in elements.
struct StepLayout {
  int8_t dim = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[kStepOperands][kMaxDims];
};

/// One optimizer's step for many parameters of one floating dtype by a rule of fn::OptimRules.
/// Gradients are divided by *grad_scale, and kept so, and negated to maximize; nothing happens
/// where *found_inf is 1.
struct FusedStepParams {
  int rule = 0;
  alignas(8) unsigned char parameters[64];  // the rule's
  int operands = 0;
  ScalarType dtype = ScalarType::Undefined;
  bool maximize = false;
  float* grad_scale = nullptr;  // in the device's memory, as found_inf
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

namespace cpu {
void run(const FusedStepParams& params, Ctx& ctx);
}
namespace cuda {
void run(const FusedStepParams& params, Ctx& ctx);
}

}  // namespace hearth
