// The steps of optimizers: one op updates a whole list of parameters.
#include "ops/define.h"
#include "ops/optim_step.h"

namespace hearth {

namespace {

struct Sgd {
  struct Args {
    int64_t count;
    double weight_decay, momentum, lr, dampening;
    bool nesterov, maximize, is_first_step;
    HEARTH_FIELDS(count, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step)
    StepShape shape() const { return {count, momentum == 0 ? 2 : 3}; }
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
    StepShape shape() const { return {count, amsgrad ? 5 : 4, StepShape::kSteps}; }
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
    StepShape shape() const { return {count, 3, StepShape::kSteps}; }
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
    StepShape shape() const { return {count, 3 + centered + (momentum > 0)}; }
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

}  // namespace

void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                 double weight_decay, double momentum, double lr, double dampening, bool nesterov,
                 bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale,
                 const std::optional<Tensor>& found_inf) {
  const TensorList buffers = momentum == 0 ? TensorList() : momentum_buffer_list;
  // In calls of check_lengths, self stands for a list that is not used.
  check_lengths(self, {grads, momentum == 0 ? self : buffers});
  invoke_step<Sgd>({int64_t(self.size()), weight_decay, momentum, lr, dampening, nesterov, maximize,
                    is_first_step},
                   {or_undefined(grad_scale), or_undefined(found_inf)}, self, grads, buffers);
}

namespace {

template <bool decoupled>
void fused_adam(const typename Adam<decoupled>::Args& args, TensorList self, TensorList grads,
                TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                TensorList state_steps, const StepScaling& scaling) {
  const TensorList max_avg_sqs = args.amsgrad ? max_exp_avg_sqs : TensorList();
  check_lengths(self,
                {grads, exp_avgs, exp_avg_sqs, args.amsgrad ? max_avg_sqs : self, state_steps});
  invoke_step<Adam<decoupled>>(args, scaling, self, grads, exp_avgs, exp_avg_sqs, max_avg_sqs,
                               state_steps);
}

}  // namespace

void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                  double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                  const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  fused_adam<false>({int64_t(self.size()), lr, beta1, beta2, weight_decay, eps, amsgrad, maximize},
                    self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                    {or_undefined(grad_scale), or_undefined(found_inf)});
}

void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                   double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                   const std::optional<Tensor>& grad_scale,
                   const std::optional<Tensor>& found_inf) {
  fused_adam<true>({int64_t(self.size()), lr, beta1, beta2, weight_decay, eps, amsgrad, maximize},
                   self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                   {or_undefined(grad_scale), or_undefined(found_inf)});
}

void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums,
                     TensorList state_steps, double lr, double lr_decay, double weight_decay,
                     double eps, bool maximize, const std::optional<Tensor>& grad_scale,
                     const std::optional<Tensor>& found_inf) {
  check_lengths(self, {grads, state_sums, state_steps});
  invoke_step<Adagrad>({int64_t(self.size()), lr, lr_decay, weight_decay, eps, maximize},
                       {or_undefined(grad_scale), or_undefined(found_inf)}, self, grads, state_sums,
                       state_steps);
}

void _fused_rmsprop_(TensorList self, TensorList grads, TensorList square_avgs,
                     TensorList grad_avgs, TensorList momentum_buffer_list, double lr, double alpha,
                     double eps, double weight_decay, double momentum, bool centered, bool maximize,
                     const std::optional<Tensor>& grad_scale,
                     const std::optional<Tensor>& found_inf) {
  const TensorList used_grad_avgs = centered ? grad_avgs : TensorList(),
                   buffers = momentum > 0 ? momentum_buffer_list : TensorList();
  check_lengths(
      self, {grads, square_avgs, centered ? used_grad_avgs : self, momentum > 0 ? buffers : self});
  invoke_step<RmsProp>(
      {int64_t(self.size()), lr, alpha, eps, weight_decay, momentum, centered, maximize},
      {or_undefined(grad_scale), or_undefined(found_inf)}, self, grads, square_avgs, used_grad_avgs,
      buffers);
}

}  // namespace hearth
