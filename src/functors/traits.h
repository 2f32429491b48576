#pragma once

#include "functors/hd.h"

namespace hearth::fn {

namespace detail {

/// Stands for a value in a formula and records which arguments the result was computed from.
struct Probe {
  static constexpr bool kIntegral = false;
  SlotSet used = 0;                 // the arguments, by their slots
  bool untouched_gradient = false;  // whether this is the incoming gradient itself
  HEARTH_FN Probe(double) {}
  HEARTH_FN Probe(SlotSet slots, bool gradient) : used(slots), untouched_gradient(gradient) {}
  HEARTH_FN friend Probe join(Probe a, Probe b) { return Probe(a.used | b.used, false); }

#define HEARTH_PROBE_OPERATOR(op) \
  HEARTH_FN friend Probe operator op(Probe a, Probe b) { return join(a, b); }
  HEARTH_PROBE_OPERATOR(+)
  HEARTH_PROBE_OPERATOR(-)
  HEARTH_PROBE_OPERATOR(*)
  HEARTH_PROBE_OPERATOR(/)
  HEARTH_PROBE_OPERATOR(<)
  HEARTH_PROBE_OPERATOR(<=)
  HEARTH_PROBE_OPERATOR(>)
  HEARTH_PROBE_OPERATOR(>=)
  HEARTH_PROBE_OPERATOR(==)
  HEARTH_PROBE_OPERATOR(!=)
  HEARTH_PROBE_OPERATOR(&)
  HEARTH_PROBE_OPERATOR(|)
#undef HEARTH_PROBE_OPERATOR
  HEARTH_FN friend Probe operator-(Probe a) { return join(a, a); }
  HEARTH_FN friend Probe operator!(Probe a) { return join(a, a); }
  HEARTH_FN friend Probe select(Probe c, Probe a, Probe b) { return join(c, join(a, b)); }
#define HEARTH_PROBE_UNARY(name) \
  HEARTH_FN friend Probe name(Probe a) { return join(a, a); }
  HEARTH_VALUE_UNARY(HEARTH_PROBE_UNARY)
  HEARTH_VALUE_TESTS(HEARTH_PROBE_UNARY)
  HEARTH_PROBE_UNARY(conj)
#undef HEARTH_PROBE_UNARY
#define HEARTH_PROBE_BINARY(name) \
  HEARTH_FN friend Probe name(Probe a, Probe b) { return join(a, b); }
  HEARTH_VALUE_BINARY(HEARTH_PROBE_BINARY)
#undef HEARTH_PROBE_BINARY
};

}  // namespace detail

/// The number of inputs of F::value.
template <class F>
inline constexpr int arity = [] {
  using P = detail::Probe;
  if constexpr (requires(F f, P p) { f.value(p); })
    return 1;
  else if constexpr (requires(F f, P p) { f.value(p, p); })
    return 2;
  else
    return 3;
}();

/// Evaluates formula `which` of f: 0 is the value; 1, 2 and 3 are the gradients of inputs a, b and
/// c.
template <int which, class F, class... V>
HEARTH_FN auto evaluate(const F& f, V... v) {
  if constexpr (which == 0)
    return f.value(v...);
  else if constexpr (which == 1 && arity<F> == 1)
    return f.grad(v...);
  else if constexpr (which == 1)
    return f.grad_a(v...);
  else if constexpr (which == 2)
    return f.grad_b(v...);
  else
    return f.grad_c(v...);
}

/// The number of operands of formula `which` of F: the inputs and, for gradients, the incoming
/// gradient before them. With grad_of_output, a gradient has the operands (g, y).
template <class F, int which>
inline constexpr int operands = which == 0               ? arity<F>
                                : F::info.grad_of_output ? 2
                                                         : arity<F> + 1;

/// Whether F has formula `which`.
template <class F, int which>
inline constexpr bool has_formula = [] {
  using P = detail::Probe;
  if constexpr (which == 0)
    return true;
  else if constexpr (which > arity<F>)
    return false;
  else if constexpr (arity<F> == 1)
    return requires(F f, P p) { f.grad(p, p); };
  else if constexpr (arity<F> == 2)
    return which == 1 ? requires(F f, P p) { f.grad_a(p, p, p); } : requires(F f, P p) { f.grad_b(p, p, p); };
  else return which == 1 ? requires(F f, P p) {
    f.grad_a(p, p, p, p);
  }
           : which == 2 ? requires(F f, P p) { f.grad_b(p, p, p, p); }
                        : requires(F f, P p) { f.grad_c(p, p, p, p); };
}();

namespace detail {
/// Gradient `which` of F, evaluated on Probes.
template <class F, int which>
inline constexpr Probe probed = [] {
  if constexpr (!has_formula<F, which>) {
    return Probe(0, false);
  } else {
    const F f{};
    const Probe g(0, true), a(in_slot(0), false), b(in_slot(1), false), c(in_slot(2), false);
    if constexpr (operands<F, which> == 2)
      return evaluate<which>(f, g, a);
    else if constexpr (operands<F, which> == 3)
      return evaluate<which>(f, g, a, b);
    else
      return evaluate<which>(f, g, a, b, c);
  }
}();
}  // namespace detail

/// The inputs (bit i) that gradient `which` of F reads; only these have to be saved for it. With
/// grad_of_output, bit 0 is the output.
template <class F, int which>
inline constexpr SlotSet reads = detail::probed<F, which>.used;

/// Whether gradient `which` of F is the incoming gradient itself.
template <class F, int which>
inline constexpr bool passes_through = detail::probed<F, which>.untouched_gradient;

}  // namespace hearth::fn
