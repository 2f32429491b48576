// Steps of ASGD and Rprop, interpolation of lists, clipping of gradients.
#include "ops/define.h"
#include "ops/optim_step.h"

namespace hearth {

namespace {

struct Asgd {
  struct Args {
    int64_t count;
    double lambd, eta, mu, weight_decay;
    bool maximize;
    HEARTH_FIELDS(count, lambd, eta, mu, weight_decay, maximize)
    StepShape shape() const { return {count, 3}; }
  };
  static constexpr OpInfo info = step_info("_fused_asgd_");
  static void launch(const Args& a, LaunchContext& context) {
    run_step(fn::AsgdStep{{0, a.weight_decay, false}, a.lambd, a.eta, a.mu}, a.shape(), a.maximize,
             context);
  }
};

struct Rprop {
  struct Args {
    int64_t count;
    double etaminus, etaplus, step_size_min, step_size_max;
    bool maximize;
    HEARTH_FIELDS(count, etaminus, etaplus, step_size_min, step_size_max, maximize)
    StepShape shape() const { return {count, 4}; }
  };
  static constexpr OpInfo info = step_info("_fused_rprop_");
  static void launch(const Args& a, LaunchContext& context) {
    run_step(fn::RpropStep{a.etaminus, a.etaplus, a.step_size_min, a.step_size_max}, a.shape(),
             a.maximize, context);
  }
};

struct Lerp {
  struct Args {
    int64_t count;
    double weight;
    HEARTH_FIELDS(count, weight)
    StepShape shape() const { return {count, 2}; }
  };
  static constexpr OpInfo info = step_info("_foreach_lerp_");
  static void launch(const Args& a, LaunchContext& context) {
    run_step(fn::LerpStep{a.weight}, a.shape(), false, context);
  }
};

struct Clip {
  struct Args {
    int64_t count;
    double max_norm;
    HEARTH_FIELDS(count, max_norm)
    StepShape shape() const { return {count, 1, StepShape::kNorms}; }
  };
  static constexpr OpInfo info = step_info("_fused_clip_");
  static void launch(const Args& a, LaunchContext& context) {
    run_step(fn::ClipStep{a.max_norm}, a.shape(), false, context);
  }
};

}  // namespace

void _fused_asgd_(TensorList self, TensorList grads, TensorList axs, double lambd, double eta,
                  double mu, double weight_decay, bool maximize) {
  invoke_unscaled<Asgd>({int64_t(self.size()), lambd, eta, mu, weight_decay, maximize}, self, grads,
                        axs);
}

void _fused_rprop_(TensorList self, TensorList grads, TensorList prevs, TensorList step_sizes,
                   double etaminus, double etaplus, double step_size_min, double step_size_max,
                   bool maximize) {
  invoke_unscaled<Rprop>(
      {int64_t(self.size()), etaminus, etaplus, step_size_min, step_size_max, maximize}, self,
      grads, prevs, step_sizes);
}

void _foreach_lerp_(TensorList self, TensorList tensors1, const Scalar& weight) {
  invoke_unscaled<Lerp>({int64_t(self.size()), weight.toDouble()}, self, tensors1);
}

void _fused_clip_(TensorList self, const Tensor& total_norm, double max_norm) {
  const std::vector<Tensor> norms(self.size(), total_norm);
  invoke_unscaled<Clip>({int64_t(self.size()), max_norm}, self, TensorList(norms));
}

}  // namespace hearth
