#pragma once

#include <cmath>

#include "functors/hd.h"

// The rules by which optimizers update parameters, and those of weight averages (LerpStep) and
// gradient clipping (ClipStep). update() gets one element of each of `operands` tensors: a
// parameter, its gradient and its states; the caller stores all but the gradient. factors()
// computes the numbers that depend on the number of the step. In the formulas, p is a parameter, g
// its gradient (after weight decay) and t the number of the step.

namespace hearth::fn {

/// The result of factors(). The rules from NadamStep to LerpStep do not use it: they need no such
/// numbers or have them as members.
struct StepFactors {
  double rate = 0;   // multiplies the update; ClipStep: the gradient
  double scale = 1;  // AdamStep: multiplies the root of the second moment
};

/// b = momentum b + (1 - dampening) g, in the first step b = g; p -= lr b or, with Nesterov
/// momentum, p -= lr (g + momentum b). Without momentum, p -= lr g.
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
/// p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps); amsgrad uses the largest v so far.
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

/// s = alpha s + (1 - alpha) g^2; u = g / (sqrt(s) + eps) or, centered, a = alpha a + (1 - alpha) g
/// and u = g / (sqrt(s - a^2) + eps); p -= lr u or, with momentum, b = momentum b + u, p -= lr b.
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

/// Weight decay of the parameter, p *= shrink, or of the gradient, g += weight_decay p.
struct StepDecay {
  double shrink = 1, weight_decay = 0;

  constexpr StepDecay() = default;
  HEARTH_FN StepDecay(double lr, double decay, bool decoupled)
      : shrink(decoupled ? 1 - lr * decay : 1), weight_decay(decoupled ? 0 : decay) {}
  template <class V>
  HEARTH_FN void apply(V& p, V& g) const {
    if (shrink != 1) p = p * V(shrink);
    if (weight_decay != 0) g = g + V(weight_decay) * p;
  }
};

/// m and v as Adam's; p -= (gradient_rate g + mean_rate m) / (scale sqrt(v) + eps).
struct NadamStep {
  static constexpr int operands = 4;
  StepDecay decay;
  double beta1, beta2, eps, gradient_rate, mean_rate, scale;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g, V& m, V& v) const {
    decay.apply(p, g);
    m = m + V(1 - beta1) * (g - m);
    v = V(beta2) * v + V(1 - beta2) * g * g;
    const V root = sqrt(v) * V(scale) + V(eps);
    p = p - V(gradient_rate) * g / root - V(mean_rate) * m / root;
  }
};

/// m and v as Adam's; p -= rate m or, if `rectified`, p -= rate m / (sqrt(v) + eps).
struct RadamStep {
  static constexpr int operands = 4;
  StepDecay decay;
  double beta1, beta2, eps, rate;
  bool rectified;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g, V& m, V& v) const {
    decay.apply(p, g);
    m = m + V(1 - beta1) * (g - m);
    v = V(beta2) * v + V(1 - beta2) * g * g;
    p = p - (rectified ? V(rate) * m / (sqrt(v) + V(eps)) : V(rate) * m);
  }
};

/// m as Adam's; u = max(beta2 u, |g| + eps); p -= rate m / u.
struct AdamaxStep {
  static constexpr int operands = 4;
  StepDecay decay;
  double beta1, beta2, eps, rate;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g, V& m, V& u) const {
    decay.apply(p, g);
    m = m + V(1 - beta1) * (g - m);
    u = maximum(V(beta2) * u, abs(g) + V(eps));
    p = p - V(rate) * m / u;
  }
};

/// v = rho v + (1 - rho) g^2; d = g sqrt(u + eps) / sqrt(v + eps); u = rho u + (1 - rho) d^2;
/// p -= lr d.
struct AdadeltaStep {
  static constexpr int operands = 4;
  StepDecay decay;
  double lr, rho, eps;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g, V& v, V& u) const {
    decay.apply(p, g);
    v = V(rho) * v + V(1 - rho) * g * g;
    const V d = sqrt(u + V(eps)) / sqrt(v + V(eps)) * g;
    u = V(rho) * u + V(1 - rho) * d * d;
    p = p - V(lr) * d;
  }
};

/// p = (1 - lambd eta) p - eta g; the average a moves by the share mu of its distance to p.
struct AsgdStep {
  static constexpr int operands = 3;
  StepDecay decay;
  double lambd, eta, mu;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g, V& a) const {
    decay.apply(p, g);
    p = p * V(1 - lambd * eta) - V(eta) * g;
    a = mu == 1 ? p : a + V(mu) * (p - a);
  }
};

/// The step size s grows while g keeps its sign; if the sign changes, s shrinks and g becomes 0.
/// p -= s sign(g). The previous gradient is h.
struct RpropStep {
  static constexpr int operands = 4;
  double shrink, grow, smallest, largest;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g, V& h, V& s) const {
    const V product = g * h, zero(0);
    const V factor = select(product > zero, V(grow), select(product < zero, V(shrink), V(1)));
    s = minimum(maximum(s * factor, V(smallest)), V(largest));
    h = select(product < zero, zero, g);
    p = p - select(h > zero, s, select(h < zero, -s, zero));
  }
};

/// p += weight (g - p), computed from the nearer end; g is another tensor, not a gradient.
struct LerpStep {
  static constexpr int operands = 2;
  double weight;

  HEARTH_FN StepFactors factors(double) const { return {}; }
  template <class V>
  HEARTH_FN void update(StepFactors, V& p, V& g) const {
    p = weight < 0.5 ? p + V(weight) * (g - p) : g - (g - p) * V(1 - weight);
  }
};

/// p *= min(1, max_norm / (norm + 1e-6)), where p is a gradient; factors() gets the norm instead of
/// the step's number.
struct ClipStep {
  static constexpr int operands = 1;
  double max_norm;

  HEARTH_FN StepFactors factors(double norm) const {
    const double ratio = max_norm / (norm + 1e-6);
    return {ratio > 1 ? 1 : ratio};
  }
  template <class V>
  HEARTH_FN void update(StepFactors by, V& p) const {
    p = p * V(by.rate);
  }
};

/// Every rule; the position of a rule is its number in the kernel tables.
using OptimRules = List<SgdStep<false>, SgdStep<true>, AdamStep<false>, AdamStep<true>, AdagradStep,
                        RmsPropStep<false, false>, RmsPropStep<false, true>,
                        RmsPropStep<true, false>, RmsPropStep<true, true>, NadamStep, RadamStep,
                        AdamaxStep, AdadeltaStep, AsgdStep, RpropStep, LerpStep, ClipStep>;

}  // namespace hearth::fn
