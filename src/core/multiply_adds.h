#pragma once

#include <cstdint>

#include "core/observer.h"

namespace hearth {

/// The multiply-adds of an op call that has ended, from the sizes of its tensors: matrix products,
/// convolutions, attention and recurrent nets, also their gradients. 0 for all other ops.
int64_t multiply_adds(const ObservedCall& call);

/// The floating-point operations of a call that has ended: two per multiply-add. As in PyTorch's
/// profiler, add and mul count one per element of the first input; other ops count none.
int64_t flops(const ObservedCall& call);

}  // namespace hearth
