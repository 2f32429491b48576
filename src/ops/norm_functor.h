#pragma once

#include <cmath>

#include "functors/reduction.h"

namespace hearth {

/// Calls f with the functor of the norm of order `ord`.
template <class F>
void with_norm_functor(double ord, const F& f) {
  if (ord == 0) return f(fn::Norm0{});
  if (ord == 1) return f(fn::Norm1{});
  if (ord == 2) return f(fn::Norm2{});
  if (std::isinf(ord)) return ord > 0 ? f(fn::NormMax{}) : f(fn::NormMin{});
  f(fn::NormP(ord));
}

}  // namespace hearth
