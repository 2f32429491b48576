#pragma once

#include <cmath>

#include "functors/hd.h"

// The update rules of optimizers. update() replaces one element of a parameter and of its state
// tensors; factors() computes the numbers that depend on the number of the step.

namespace hearth::fn {

struct StepFactors {
  double rate = 0;   // multiplies the update
  double scale = 1;  // Adam: multiplies the root of the second moment
};

/// b = momentum b + (1 - dampening) g, in the first step b = g; p -= lr b, with Nesterov momentum
/// p -= lr (g + momentum b).
template <bool has_momentum>
struct SgdStep {
  static constexpr int operands = 2 + has_momentum;
  double lr, weight_decay, momentum, dampening;
  bool nesterov, first;

  HEARTH_FN StepFactors factors(double) const { return {lr}; }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g) const {
    if (weight_decay != 0) g = g + V(weight_decay) * p;
    p = p - V(by.rate) * g;
  }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& b) const {
    if (weight_decay != 0) g = g + V(weight_decay) * p;
    b = first ? g : V(momentum) * b + V(1 - dampening) * g;
    p = p - V(by.rate) * (nesterov ? g + V(momentum) * b : b);
  }
};

/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps), with amsgrad the largest v so far.
template <bool amsgrad>
struct AdamStep {
  static constexpr int operands = 4 + amsgrad;
  double lr, beta1, beta2, weight_decay, eps;
  bool decoupled;  // AdamW: weight decay acts on p, not on g

  HEARTH_FN StepFactors factors(double step) const {
    return {lr / (1 - ::pow(beta1, step)), 1 / ::sqrt(1 - ::pow(beta2, step))};
  }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& m, V& v) const {
    advance(p, g, m, v);
    p = p - V(by.rate) * m / (sqrt(v) * V(by.scale) + V(eps));
  }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& m, V& v, V& largest) const {
    advance(p, g, m, v);
    largest = maximum(largest, v);
    p = p - V(by.rate) * m / (sqrt(largest) * V(by.scale) + V(eps));
  }

 private:
  template <class V>
  HEARTH_FN void advance(V& p, V& g, V& m, V& v) const {
    if (weight_decay != 0 && decoupled) p = p * V(1 - lr * weight_decay);
    if (weight_decay != 0 && !decoupled) g = g + V(weight_decay) * p;
    m = m + V(1 - beta1) * (g - m);
    v = V(beta2) * v + V(1 - beta2) * g * g;
  }
};

/// s += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).
struct AdagradStep {
  static constexpr int operands = 3;
  double lr, lr_decay, weight_decay, eps;

  HEARTH_FN StepFactors factors(double step) const { return {lr / (1 + (step - 1) * lr_decay)}; }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& s) const {
    if (weight_decay != 0) g = g + V(weight_decay) * p;
    s = s + g * g;
    p = p - V(by.rate) * g / (sqrt(s) + V(eps));
  }
};

/// s = alpha s + (1 - alpha) g^2; u = g / (sqrt(s) + eps), or, centered, a = alpha a + (1 - alpha)
/// g and u = g / (sqrt(s - a^2) + eps); p -= lr u, with momentum lr b for b = momentum b + u.
template <bool centered, bool has_momentum>
struct RmsPropStep {
  static constexpr int operands = 3 + centered + has_momentum;
  double lr, alpha, eps, weight_decay, momentum;

  HEARTH_FN StepFactors factors(double) const { return {lr}; }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& s) const {
    advance(p, g, s);
    p = p - V(by.rate) * g / (sqrt(s) + V(eps));
  }
  /// x is the mean of the gradients if centered, else the momentum buffer.
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& s, V& x) const {
    advance(p, g, s);
    if constexpr (centered)
      p = p - V(by.rate) * g / centered_root(g, s, x);
    else
      p = p - V(by.rate) * (x = V(momentum) * x + g / (sqrt(s) + V(eps)));
  }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p, V& g, V& s, V& a, V& b) const {
    advance(p, g, s);
    b = V(momentum) * b + g / centered_root(g, s, a);
    p = p - V(by.rate) * b;
  }

 private:
  template <class V>
  HEARTH_FN void advance(V& p, V& g, V& s) const {
    if (weight_decay != 0) g = g + V(weight_decay) * p;
    s = V(alpha) * s + V(1 - alpha) * g * g;
  }
  template <class V>
  HEARTH_FN V centered_root(V& g, V& s, V& a) const {
    a = a + V(1 - alpha) * (g - a);
    return sqrt(s - a * a) + V(eps);
  }
};

/// Every rule; the position of a rule is its number in the kernel tables.
using OptimRules = List<SgdStep<false>, SgdStep<true>, AdamStep<false>, AdamStep<true>, AdagradStep,
                        RmsPropStep<false, false>, RmsPropStep<false, true>,
                        RmsPropStep<true, false>, RmsPropStep<true, true>>;

}  // namespace hearth::fn
