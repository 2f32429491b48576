// Steps of NAdam, RAdam, Adamax and Adadelta.
#include <cmath>

#include "ops/optim_step.h"

namespace hearth {

namespace {

struct Nadam {
  struct Args {
    int64_t count, step;
    double mu_product, lr, beta1, beta2, weight_decay, momentum_decay, eps;
    bool decoupled_weight_decay, maximize;
    HEARTH_FIELDS(count, step, mu_product, lr, beta1, beta2, weight_decay, momentum_decay, eps,
                  decoupled_weight_decay, maximize)
    StepShape shape() const { return {count, 4}; }
    /// The momentum of a step.
    double mu(int64_t step_number) const {
      return beta1 * (1 - 0.5 * std::pow(0.96, double(step_number) * momentum_decay));
    }
  };
  static constexpr OpInfo info = step_info("_fused_nadam_");
  static void launch(const Args& a, LaunchContext& context) {
    const double next_mu = a.mu(a.step + 1);
    const fn::NadamStep rule{{a.lr, a.weight_decay, a.decoupled_weight_decay},
                             a.beta1,
                             a.beta2,
                             a.eps,
                             a.lr * (1 - a.mu(a.step)) / (1 - a.mu_product),
                             a.lr * next_mu / (1 - a.mu_product * next_mu),
                             1 / std::sqrt(1 - std::pow(a.beta2, double(a.step)))};
    run_step(rule, a.shape(), a.maximize, context);
  }
};

struct Radam {
  struct Args {
    int64_t count, step;
    double lr, beta1, beta2, weight_decay, eps;
    bool decoupled_weight_decay, maximize;
    HEARTH_FIELDS(count, step, lr, beta1, beta2, weight_decay, eps, decoupled_weight_decay,
                  maximize)
    StepShape shape() const { return {count, 4}; }
  };
  static constexpr OpInfo info = step_info("_fused_radam_");
  /// The variance is rectified once the length of its moving average, in steps, exceeds 5.
  static void launch(const Args& a, LaunchContext& context) {
    const double power = std::pow(a.beta2, double(a.step)), correction = 1 - power;
    const double longest = 2 / (1 - a.beta2) - 1;
    const double length = longest - 2 * double(a.step) * power / correction;
    double rate = a.lr / (1 - std::pow(a.beta1, double(a.step)));
    const bool is_rectified = length > 5;
    if (is_rectified)
      rate *= std::sqrt(correction) * std::sqrt((length - 4) * (length - 2) * longest /
                                                ((longest - 4) * (longest - 2) * length));
    run_step(fn::RadamStep{{a.lr, a.weight_decay, a.decoupled_weight_decay},
                           a.beta1,
                           a.beta2,
                           a.eps,
                           rate,
                           is_rectified},
             a.shape(), a.maximize, context);
  }
};

struct Adamax {
  struct Args {
    int64_t count, step;
    double lr, beta1, beta2, weight_decay, eps;
    bool maximize;
    HEARTH_FIELDS(count, step, lr, beta1, beta2, weight_decay, eps, maximize)
    StepShape shape() const { return {count, 4}; }
  };
  static constexpr OpInfo info = step_info("_fused_adamax_");
  static void launch(const Args& a, LaunchContext& context) {
    const double rate = a.lr / (1 - std::pow(a.beta1, double(a.step)));
    run_step(fn::AdamaxStep{{a.lr, a.weight_decay, false}, a.beta1, a.beta2, a.eps, rate},
             a.shape(), a.maximize, context);
  }
};

struct Adadelta {
  struct Args {
    int64_t count;
    double lr, rho, eps, weight_decay;
    bool maximize;
    HEARTH_FIELDS(count, lr, rho, eps, weight_decay, maximize)
    StepShape shape() const { return {count, 4}; }
  };
  static constexpr OpInfo info = step_info("_fused_adadelta_");
  static void launch(const Args& a, LaunchContext& context) {
    run_step(fn::AdadeltaStep{{a.lr, a.weight_decay, false}, a.lr, a.rho, a.eps}, a.shape(),
             a.maximize, context);
  }
};

}  // namespace

void _fused_nadam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   int64_t step, double mu_product, double lr, double beta1, double beta2,
                   double weight_decay, double momentum_decay, double eps,
                   bool decoupled_weight_decay, bool maximize) {
  invoke_unscaled<Nadam>({int64_t(self.size()), step, mu_product, lr, beta1, beta2, weight_decay,
                          momentum_decay, eps, decoupled_weight_decay, maximize},
                         self, grads, exp_avgs, exp_avg_sqs);
}

void _fused_radam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   int64_t step, double lr, double beta1, double beta2, double weight_decay,
                   double eps, bool decoupled_weight_decay, bool maximize) {
  invoke_unscaled<Radam>({int64_t(self.size()), step, lr, beta1, beta2, weight_decay, eps,
                          decoupled_weight_decay, maximize},
                         self, grads, exp_avgs, exp_avg_sqs);
}

void _fused_adamax_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_infs,
                    int64_t step, double lr, double beta1, double beta2, double weight_decay,
                    double eps, bool maximize) {
  invoke_unscaled<Adamax>(
      {int64_t(self.size()), step, lr, beta1, beta2, weight_decay, eps, maximize}, self, grads,
      exp_avgs, exp_infs);
}

void _fused_adadelta_(TensorList self, TensorList grads, TensorList square_avgs,
                      TensorList acc_deltas, double lr, double rho, double eps, double weight_decay,
                      bool maximize) {
  invoke_unscaled<Adadelta>({int64_t(self.size()), lr, rho, eps, weight_decay, maximize}, self,
                            grads, square_avgs, acc_deltas);
}

}  // namespace hearth
