#pragma once

#include "functors/families.h"

namespace hearth::fn::detail {

/// The density of the standard normal distribution.
template <class V>
HEARTH_FN V normal_density(V x) {
  constexpr double one_over_sqrt_2pi = 0.39894228040143267794;
  return one_over_sqrt_2pi * exp(-0.5 * x * x);
}

}  // namespace hearth::fn::detail

/// A functor of one floating-point number; integers are converted to the default float dtype.
/// `policy` is the autocast policy on CUDA. `derivative` is an expression in g and x, where x is
/// the output if `of_output`, else the input.
#define HEARTH_FLOAT_FUNCTION(Name, op_name, policy, of_output, formula, derivative) \
  HEARTH_FUNCTION_OF(Name, op_name, 0, x, policy, of_output, formula, derivative)
/// The same, also for complex numbers; their value is function(x).
#define HEARTH_ANALYTIC_FUNCTION(Name, function, policy, of_output, formula, derivative)         \
  HEARTH_FUNCTION_OF(Name, #function, dtypes::kComplex, function(x), policy, of_output, formula, \
                     derivative)
/// The common form of both: `further` are more dtypes, only on the CPU; `of_complex` is the value
/// for a complex x.
#define HEARTH_FUNCTION_OF(Name, op_name, further, of_complex, policy, of_output, formula, \
                           derivative)                                                     \
  struct Name {                                                                            \
    static constexpr OpInfo info{.name = op_name,                                          \
                                 .dtypes = dtypes::kFloating,                              \
                                 .cpu_dtypes = further,                                    \
                                 .promote = Promote::kFloat,                               \
                                 .amp = Amp::policy,                                       \
                                 .amp_cpu = Amp::kKeep,                                    \
                                 .grad_of_output = of_output};                             \
    template <class V>                                                                     \
    HEARTH_FN V value(V x) const {                                                         \
      if constexpr (is_complex_value<V>())                                                 \
        return of_complex;                                                                 \
      else                                                                                 \
        return formula;                                                                    \
    }                                                                                      \
    template <class V>                                                                     \
    HEARTH_FN V grad(V g, [[maybe_unused]] V x) const {                                    \
      return derivative;                                                                   \
    }                                                                                      \
  };
