// Common code of the ops of optimizer steps: one op updates a whole list of parameters.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "ops/call.h"
#include "seam/optim.h"

namespace hearth {

/// The inputs of a step: lists of `count` tensors each, in the order parameters, gradients, state
/// and, for rules that read a number per parameter from memory, these numbers; then grad_scale and
/// found_inf.
struct StepShape {
  /// What a rule reads for each parameter: nothing, its step count (float32), or a norm (any
  /// floating dtype).
  enum Numbers { kNone, kSteps, kNorms };
  int64_t count;
  int num_operands;  // the lists of parameters, gradients and state
  Numbers numbers = kNone;
  int inputs() const { return int(count) * (num_operands + (numbers != kNone)); }
  int input_of(int list, int64_t i) const { return int(count) * list + int(i); }
  /// Whether a list is written to: parameters and state always, gradients if they are scaled.
  bool writes(int list, bool scales) const {
    constexpr int kGradients = 1;
    return list < num_operands && (list != kGradients || scales);
  }
};

/// Checks the inputs of a step.
void infer_step(const OpInfo& info, const StepShape& shape, const InferContext& context);
/// The kernel's parameters, without the rule.
FusedStepParams step_params(const StepShape& shape, bool maximize, const LaunchContext& context);

template <class F>
void run_step(const F& rule, const StepShape& shape, bool maximize, LaunchContext& context) {
  FusedStepParams params = step_params(shape, maximize, context);
  params.set_rule(rule);
  run_kernel(context.ctx, params);
}

constexpr SlotSet kAllInputs = out_slot(0) - 1;

constexpr OpInfo step_info(const char* name) {
  return {.name = name,
          .arguments = "self,grads",
          .dtypes = dtypes::kFloating,
          .optional = kAllInputs,  // infer_step checks which are there
          .outputs = 0,
          .mixes_devices = true};
}

/// The op of a step; its Args have a function shape().
template <class Step>
struct Fused : Step {
  using Args = typename Step::Args;
  static void infer(const Args& args, InferContext& context) {
    infer_step(Step::info, args.shape(), context);
  }
  static bool mutates(const Args& args, const Inputs& in, int i) {
    const StepShape shape = args.shape();
    return shape.writes(i / int(shape.count), in[shape.inputs()].defined());
  }
};

/// What a step reads besides its lists; both may be undefined.
struct StepScaling {
  Tensor grad_scale, found_inf;
};

/// Whether the parameters, gradients and state among `lists` have several dtypes: PyTorch's
/// optimizers keep the state's dtype when a model is converted after a step.
bool mixes_dtypes(const StepShape& shape, std::span<const TensorList> lists);

/// Copies of the parameters, gradients and state of a step that mixes dtypes, in one dtype.
class StepCopies {
 public:
  /// Replaces the operands among `lists` by copies, unless an operand is wrong.
  StepCopies(const StepShape& shape, std::span<TensorList> lists, bool scales);
  void write_back() const;  ///< copies the results to the operands

 private:
  StepShape shape_;
  bool scales_;
  std::vector<TensorList> operands_;
  std::vector<std::vector<Tensor>> copies_;
};

/// Runs a step; unused lists are empty.
template <class Step>
void invoke_step(const typename Step::Args& args, const StepScaling& scaling, TensorList params,
                 const std::same_as<TensorList> auto&... lists) {
  if (params.empty()) return;
  std::array all{params, lists...};
  std::optional<StepCopies> copies;
  if (mixes_dtypes(args.shape(), all))
    copies.emplace(args.shape(), all, scaling.grad_scale.defined());
  const auto run = [&](const auto&... operands) {
    invoke<Fused<Step>>(args, operands..., scaling.grad_scale, scaling.found_inf).all();
  };
  std::apply(run, all);
  if (copies) copies->write_back();
}

/// Throws unless each list has a tensor for each parameter.
void check_lengths(TensorList self, std::initializer_list<TensorList> others);

/// Runs a step that reads all its lists, without grad_scale and found_inf.
template <class Step>
void invoke_unscaled(const typename Step::Args& args, TensorList params,
                     const std::same_as<TensorList> auto&... lists) {
  check_lengths(params, {lists...});
  invoke_step<Step>(args, {}, params, lists...);
}

}  // namespace hearth
