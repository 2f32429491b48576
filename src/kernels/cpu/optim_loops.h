#pragma once

// The loops of optimizer steps for one instruction set: a vector of the parameter, its gradient and
// up to three states at a time, updated by the formula of the rule. Bound by memory: up to five
// loads and, with scaled gradients, five stores for a few operations. Included only by
// optim_@target@.cpp.in.

#include "kernels/cpu/math_simple.h"
#include "kernels/cpu/optim_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// Load and store whole vectors, or only their first n lanes.
template <class V>
struct WholeVector {
  HEARTH_SIMD V load(const void* from) const { return V::load(from); }
  HEARTH_SIMD void store(V x, void* to) const { x.store(to); }
};
template <class V>
struct PartOfVector {
  int n;
  HEARTH_SIMD V load(const void* from) const { return V::load_first(from, n); }
  HEARTH_SIMD void store(V x, void* to) const { x.store_first(to, n); }
};

template <class F, class T, class Isa>
struct StepLoop {
  using V = FullVec<T, Isa>;

  template <class Access>
  HEARTH_SIMD static V load_gradient(const StepArgs& args, T* address, const Access& access) {
    V g = access.load(address);
    if (args.grad_scale != 1) {
      g = g / V(args.grad_scale);
      access.store(g, address);
    }
    return args.maximize ? -g : g;
  }

  template <class Access>
  HEARTH_SIMD static void update(const F& rule, const StepArgs& args, T* const* x, int64_t i,
                                 const Access& access) {
    V p = access.load(x[0] + i);
    if constexpr (F::operands == 1)
      rule.update(args.factors, p);
    else
      update_by_gradient(rule, args, x, i, access, p);
    access.store(p, x[0] + i);
  }

  template <class Access>
  HEARTH_SIMD static void update_by_gradient(const F& rule, const StepArgs& args, T* const* x,
                                             int64_t i, const Access& access, V& p) {
    V g = load_gradient(args, x[1] + i, access);
    if constexpr (F::operands == 2) {
      rule.update(args.factors, p, g);
    } else {
      V a = access.load(x[2] + i);
      if constexpr (F::operands == 3) {
        rule.update(args.factors, p, g, a);
      } else {
        V b = access.load(x[3] + i);
        if constexpr (F::operands == 4) {
          rule.update(args.factors, p, g, a, b);
        } else {
          V c = access.load(x[4] + i);
          rule.update(args.factors, p, g, a, b, c);
          access.store(c, x[4] + i);
        }
        access.store(b, x[3] + i);
      }
      access.store(a, x[2] + i);
    }
  }

  static void run(const StepArgs& shared_args, void* const* data, int64_t n) {
    const F rule = *static_cast<const F*>(shared_args.rule);  // copies, which stores cannot alias
    const StepArgs args = shared_args;
    T* x[F::operands];
    for (int k = 0; k < F::operands; ++k) x[k] = static_cast<T*>(data[k]);
    int64_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) update(rule, args, x, i, WholeVector<V>());
    if (i < n) update(rule, args, x, i, PartOfVector<V>{static_cast<int>(n - i)});
  }
};

template <class Isa>
struct OptimTableMaker {
  template <class... F>
  static consteval OptimTable make(List<F...>) {
    return {{{StepLoop<F, float, Isa>::run, StepLoop<F, double, Isa>::run}...}};
  }
};

template <class Isa>
consteval OptimTable make_optim_table() {
  return OptimTableMaker<Isa>::make(fn::OptimRules{});
}

}  // namespace hearth::cpu
