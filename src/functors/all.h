#pragma once

#include "functors/activation.h"
#include "functors/arithmetic.h"
#include "functors/compare.h"
#include "functors/math.h"
#include "functors/traits.h"

namespace hearth::fn {

/// Every pointwise functor; a functor's position is its number in the kernel tables.
using All = Concat<Activation, Arithmetic, Compare, Math>;

}  // namespace hearth::fn
