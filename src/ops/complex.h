#pragma once

#include "ops/call.h"

namespace hearth {

/// |z| of complex numbers; its gradient at 0 is 0.
struct AbsComplex {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "abs",
                               .overload = "complex",
                               .saves = in_slot(0) | out_slot(0),
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args&, InferContext& context);
  static void launch(const Args&, LaunchContext& context);
  static void grad(const Args&, GradContext& context);
};

/// The real (0) or imaginary (1) parts of complex numbers.
View part_of(const View& complex, int which);

}  // namespace hearth
