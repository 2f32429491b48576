#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// self[i] = start + i * step, over a 1-d tensor.
void fill_arange(const Tensor& self, const Scalar& start, const Scalar& step);
/// self[i] from start to end, both included, over a 1-d tensor.
void fill_linspace(const Tensor& self, const Scalar& start, const Scalar& end);

}  // namespace hearth
