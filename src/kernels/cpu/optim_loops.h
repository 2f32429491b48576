#pragma once

// The loops of optimizer steps for one instruction set. Included only by optim_@target@.cpp.in.

#include "kernels/cpu/math_simple.h"
#include "kernels/cpu/optim_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// Loads and stores whole vectors, or their first n lanes.
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

  template <class Move>
  HEARTH_SIMD static V load_gradient(const StepArgs& args, T* at, const Move& move) {
    V g = move.load(at);
    if (args.grad_scale != 1) {
      g = g / V(args.grad_scale);
      move.store(g, at);
    }
    return args.maximize ? -g : g;
  }

  template <class Move>
  HEARTH_SIMD static void update(const F& rule, const StepArgs& args, T* const* x, int64_t i,
                                 const Move& move) {
    V p = move.load(x[0] + i);
    if constexpr (F::operands == 1)
      rule.update(args.factors, p);
    else
      update_by_gradient(rule, args, x, i, move, p);
    move.store(p, x[0] + i);
  }

  template <class Move>
  HEARTH_SIMD static void update_by_gradient(const F& rule, const StepArgs& args, T* const* x,
                                             int64_t i, const Move& move, V& p) {
    V g = load_gradient(args, x[1] + i, move);
    if constexpr (F::operands == 2) {
      rule.update(args.factors, p, g);
    } else {
      V a = move.load(x[2] + i);
      if constexpr (F::operands == 3) {
        rule.update(args.factors, p, g, a);
      } else {
        V b = move.load(x[3] + i);
        if constexpr (F::operands == 4) {
          rule.update(args.factors, p, g, a, b);
        } else {
          V c = move.load(x[4] + i);
          rule.update(args.factors, p, g, a, b, c);
          move.store(c, x[4] + i);
        }
        move.store(b, x[3] + i);
      }
      move.store(a, x[2] + i);
    }
  }

  static void run(const StepArgs& by, void* const* data, int64_t n) {
    const F rule = *static_cast<const F*>(by.rule);  // copies, which stores cannot alias
    const StepArgs args = by;
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
