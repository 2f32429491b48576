// The steps of optimizers: one op updates a whole list of parameters.
#include "seam/optim.h"

#include "ops/binding.h"
#include "ops/define.h"

namespace hearth {

namespace {

constexpr SlotSet kAllInputs = out_slot(0) - 1;
constexpr int kGradients = 1;  // the index of the list of gradients

/// The inputs of a step: lists of `count` tensors each, first the parameters, then their gradients,
/// then state, then, for rules that count steps, the step counts; grad_scale and found_inf come
/// last.
struct StepShape {
  int64_t count;
  int operands;
  bool counts_steps;
  int inputs() const { return int(count) * (operands + counts_steps); }
  int at(int list, int64_t i) const { return int(count) * list + int(i); }
  /// Parameters and state are written to, and gradients if they are scaled.
  bool writes(int list, bool scales) const {
    return list < operands && (list != kGradients || scales);
  }
};

void check_same_device(const OpInfo& info, Device a, Device b) {
  HEARTH_CHECK(a == b,
               "Expected all tensors to be on the same device, but found at least two devices, ", a,
               " and ", b, "! (in method ", info.name, ")");
}

void check_operand(const OpInfo& info, const TensorImpl& first, const TensorImpl& param,
                   const TensorImpl& t, bool is_written) {
  check_same_device(info, first.device, t.device);
  HEARTH_CHECK(t.dtype == first.dtype, info.name,
               ": params, grads and states must have the same dtype, got ", name_of(first.dtype),
               " and ", name_of(t.dtype));
  HEARTH_CHECK(t.sizes().equals(param.sizes()), info.name,
               ": a gradient or state must have the sizes of its parameter, got ", t.sizes(),
               " for a parameter of sizes ", param.sizes());
  if (is_written) check_no_internal_overlap(t);
}

void check_step_count(const OpInfo& info, const TensorImpl& first, const TensorImpl& step) {
  if (!step.device.is_cpu()) check_same_device(info, first.device, step.device);
  HEARTH_CHECK(step.numel == 1 && step.dtype == kFloat, info.name,
               ": state_steps must be tensors of one float32, got sizes ", step.sizes(), " of ",
               name_of(step.dtype));
}

void check_scalar(const OpInfo& info, const StepShape& shape, const InferContext& context, int i) {
  if (!context.has(i)) return;
  check_same_device(info, context.in(0).device, context.in(i).device);
  HEARTH_CHECK(context.in(i).numel == 1 && context.in(i).dtype == kFloat, info.name, ": ",
               i == shape.inputs() ? "grad_scale" : "found_inf",
               " must be a tensor of one float32, got sizes ", context.in(i).sizes(), " of ",
               name_of(context.in(i).dtype));
}

void infer_step(const OpInfo& info, const StepShape& shape, const InferContext& context) {
  for (int i = 0; i < shape.inputs(); ++i)
    HEARTH_CHECK(context.has(i),
                 "Expected a proper Tensor but got None (or an undefined Tensor in C++) for "
                 "argument ",
                 i, " of ", info.name);
  for (int64_t i = 0; i < shape.count; ++i) {
    const TensorImpl& param = context.in(shape.at(0, i));
    for (int k = 0; k < shape.operands; ++k)
      check_operand(info, context.in(0), param, context.in(shape.at(k, i)),
                    shape.writes(k, context.has(shape.inputs())));
    if (shape.counts_steps)
      check_step_count(info, context.in(0), context.in(shape.at(shape.operands, i)));
  }
  for (int i = 0; i < 2; ++i) check_scalar(info, shape, context, shape.inputs() + i);
}

/// Whether parameter i is dense and its gradient and state have its strides.
bool have_equal_layout(const StepShape& shape, int64_t i, const LaunchContext& context) {
  const TensorImpl& param = context.in_impl(shape.at(0, i));
  if (!param.has(kDense)) return false;
  for (int k = 1; k < shape.operands; ++k)
    if (!context.in_impl(shape.at(k, i)).strides().equals(param.strides())) return false;
  return true;
}

/// The dimensions in the parameter's memory order.
StepLayout layout_of(const StepShape& shape, int64_t i, const LaunchContext& context) {
  const TensorImpl& param = context.in_impl(shape.at(0, i));
  StepLayout layout;
  layout.dim = param.dim;
  int order[kMaxDims];
  for (int d = 0; d < param.dim; ++d) {
    int place = d;
    for (; place > 0 && param.strides()[size_t(order[place - 1])] < param.strides()[size_t(d)];
         --place)
      order[place] = order[place - 1];
    order[place] = d;
  }
  for (int d = 0; d < param.dim; ++d) {
    layout.sizes[d] = param.sizes()[size_t(order[d])];
    for (int k = 0; k < shape.operands; ++k)
      layout.strides[k][d] = context.in_impl(shape.at(k, i)).strides()[size_t(order[d])];
  }
  return layout;
}

float* scalar_address(const LaunchContext& context, int i) {
  return context.has(i) ? static_cast<float*>(kernel_address(context.in_impl(i))) : nullptr;
}

template <class F>
void run_step(const F& rule, const StepShape& shape, bool maximize, LaunchContext& context) {
  FusedStepParams params;
  params.set_rule(rule);
  params.dtype = context.in_impl(0).dtype;
  params.maximize = maximize;
  params.grad_scale = scalar_address(context, shape.inputs());
  params.found_inf = scalar_address(context, shape.inputs() + 1);
  params.tensors.resize(size_t(shape.count));
  for (int64_t i = 0; i < shape.count; ++i) {
    StepTensor& tensor = params.tensors[size_t(i)];
    tensor.numel = context.in_impl(shape.at(0, i)).numel;
    for (int k = 0; k < shape.operands; ++k)
      tensor.data[k] = kernel_address(context.in_impl(shape.at(k, i)));
    if (shape.counts_steps) {
      const TensorImpl& step = context.in_impl(shape.at(shape.operands, i));
      if (step.device.is_cpu())
        tensor.step = double(*static_cast<const float*>(step.data()));
      else
        tensor.step_at = static_cast<const float*>(kernel_address(step));
    }
    if (have_equal_layout(shape, i, context)) continue;
    tensor.layout = int32_t(params.layouts.size());
    params.layouts.push_back(layout_of(shape, i, context));
  }
  run_kernel(context.ctx, params);
}

constexpr OpInfo step_info(const char* name) {
  return {.name = name,
          .arguments = "self,grads",
          .dtypes = dtypes::kFloating,
          .optional = kAllInputs,
          .outputs = 0,
          .mixes_devices = true};
}

struct Sgd {
  struct Args {
    int64_t count;
    double weight_decay, momentum, lr, dampening;
    bool nesterov, maximize, is_first_step;
    HEARTH_FIELDS(count, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step)
    StepShape shape() const { return {count, momentum == 0 ? 2 : 3, false}; }
  };
  static constexpr OpInfo info = step_info("_fused_sgd_");
  static void launch(const Args& a, LaunchContext& context) {
    const auto step = [&]<bool has_momentum>(fn::SgdStep<has_momentum>) {
      run_step(fn::SgdStep<has_momentum>{a.lr, a.weight_decay, a.momentum, a.dampening, a.nesterov,
                                         a.is_first_step},
               a.shape(), a.maximize, context);
    };
    if (a.momentum == 0)
      step(fn::SgdStep<false>{});
    else
      step(fn::SgdStep<true>{});
  }
};

template <bool decoupled>
struct Adam {
  struct Args {
    int64_t count;
    double lr, beta1, beta2, weight_decay, eps;
    bool amsgrad, maximize;
    HEARTH_FIELDS(count, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize)
    StepShape shape() const { return {count, amsgrad ? 5 : 4, true}; }
  };
  static constexpr OpInfo info = step_info(decoupled ? "_fused_adamw_" : "_fused_adam_");
  static void launch(const Args& a, LaunchContext& context) {
    const auto step = [&]<bool amsgrad>(fn::AdamStep<amsgrad>) {
      run_step(fn::AdamStep<amsgrad>{a.lr, a.beta1, a.beta2, a.weight_decay, a.eps, decoupled},
               a.shape(), a.maximize, context);
    };
    if (a.amsgrad)
      step(fn::AdamStep<true>{});
    else
      step(fn::AdamStep<false>{});
  }
};

struct Adagrad {
  struct Args {
    int64_t count;
    double lr, lr_decay, weight_decay, eps;
    bool maximize;
    HEARTH_FIELDS(count, lr, lr_decay, weight_decay, eps, maximize)
    StepShape shape() const { return {count, 3, true}; }
  };
  static constexpr OpInfo info = step_info("_fused_adagrad_");
  static void launch(const Args& a, LaunchContext& context) {
    run_step(fn::AdagradStep{a.lr, a.lr_decay, a.weight_decay, a.eps}, a.shape(), a.maximize,
             context);
  }
};

struct RmsProp {
  struct Args {
    int64_t count;
    double lr, alpha, eps, weight_decay, momentum;
    bool centered, maximize;
    HEARTH_FIELDS(count, lr, alpha, eps, weight_decay, momentum, centered, maximize)
    StepShape shape() const { return {count, 3 + centered + (momentum > 0), false}; }
  };
  static constexpr OpInfo info = step_info("_fused_rmsprop_");
  static void launch(const Args& a, LaunchContext& context) {
    const auto step = [&]<bool centered, bool has_momentum>(
                          fn::RmsPropStep<centered, has_momentum>) {
      run_step(
          fn::RmsPropStep<centered, has_momentum>{a.lr, a.alpha, a.eps, a.weight_decay, a.momentum},
          a.shape(), a.maximize, context);
    };
    if (a.centered && a.momentum > 0)
      step(fn::RmsPropStep<true, true>{});
    else if (a.centered)
      step(fn::RmsPropStep<true, false>{});
    else if (a.momentum > 0)
      step(fn::RmsPropStep<false, true>{});
    else
      step(fn::RmsPropStep<false, false>{});
  }
};

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

/// Runs a step; unused lists are empty.
template <class Step>
void invoke_step(const typename Step::Args& args, TensorList params, const auto&... rest) {
  if (!params.empty()) invoke<Fused<Step>>(args, params, rest...).all();
}

/// Throws unless each list has a tensor for each parameter.
void check_lengths(TensorList self, std::initializer_list<TensorList> others) {
  for (const TensorList& list : others)
    HEARTH_CHECK(list.size() == self.size(),
                 "Tensor lists must have the same number of tensors, got ", self.size(), " and ",
                 list.size());
}

}  // namespace

void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                 double weight_decay, double momentum, double lr, double dampening, bool nesterov,
                 bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale,
                 const std::optional<Tensor>& found_inf) {
  const TensorList buffers = momentum == 0 ? TensorList() : momentum_buffer_list;
  check_lengths(self, {grads, momentum == 0 ? self : buffers});
  invoke_step<Sgd>({int64_t(self.size()), weight_decay, momentum, lr, dampening, nesterov, maximize,
                    is_first_step},
                   self, grads, buffers, or_undefined(grad_scale), or_undefined(found_inf));
}

namespace {

template <bool decoupled>
void fused_adam(const typename Adam<decoupled>::Args& args, TensorList self, TensorList grads,
                TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                TensorList state_steps, const Tensor& grad_scale, const Tensor& found_inf) {
  const TensorList largest = args.amsgrad ? max_exp_avg_sqs : TensorList();
  check_lengths(self, {grads, exp_avgs, exp_avg_sqs, args.amsgrad ? largest : self, state_steps});
  invoke_step<Adam<decoupled>>(args, self, grads, exp_avgs, exp_avg_sqs, largest, state_steps,
                               grad_scale, found_inf);
}

}  // namespace

void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                  double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                  const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  fused_adam<false>({int64_t(self.size()), lr, beta1, beta2, weight_decay, eps, amsgrad, maximize},
                    self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                    or_undefined(grad_scale), or_undefined(found_inf));
}

void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                   double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                   const std::optional<Tensor>& grad_scale,
                   const std::optional<Tensor>& found_inf) {
  fused_adam<true>({int64_t(self.size()), lr, beta1, beta2, weight_decay, eps, amsgrad, maximize},
                   self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                   or_undefined(grad_scale), or_undefined(found_inf));
}

void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums,
                     TensorList state_steps, double lr, double lr_decay, double weight_decay,
                     double eps, bool maximize, const std::optional<Tensor>& grad_scale,
                     const std::optional<Tensor>& found_inf) {
  check_lengths(self, {grads, state_sums, state_steps});
  invoke_step<Adagrad>({int64_t(self.size()), lr, lr_decay, weight_decay, eps, maximize}, self,
                       grads, state_sums, state_steps, or_undefined(grad_scale),
                       or_undefined(found_inf));
}

void _fused_rmsprop_(TensorList self, TensorList grads, TensorList square_avgs,
                     TensorList grad_avgs, TensorList momentum_buffer_list, double lr, double alpha,
                     double eps, double weight_decay, double momentum, bool centered, bool maximize,
                     const std::optional<Tensor>& grad_scale,
                     const std::optional<Tensor>& found_inf) {
  const TensorList means = centered ? grad_avgs : TensorList(),
                   buffers = momentum > 0 ? momentum_buffer_list : TensorList();
  check_lengths(self, {grads, square_avgs, centered ? means : self, momentum > 0 ? buffers : self});
  invoke_step<RmsProp>(
      {int64_t(self.size()), lr, alpha, eps, weight_decay, momentum, centered, maximize}, self,
      grads, square_avgs, means, buffers, or_undefined(grad_scale), or_undefined(found_inf));
}

}  // namespace hearth
