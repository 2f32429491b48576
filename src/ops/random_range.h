#pragma once

#include "hearth/dtype.h"

namespace hearth {

/// Rounds the bounds inwards to integers that a floating dtype can represent. Throws if none is
/// left between them or if `from` or `to` - 1 is out of the dtype's range; warns if a bound is so
/// large that a floating dtype cannot represent all integers up to it. Does nothing for complex
/// dtypes.
void fit_random_range(ScalarType dtype, int64_t& from, int64_t& to);

/// The last integer that random_ draws for the dtype when no bound is given.
int64_t largest_random(ScalarType dtype);

/// Throws if `from` > `to`, or if `from`, `to` or `to` - `from` is out of the dtype's range.
void check_uniform_range(ScalarType dtype, double from, double to);

/// Throws if randperm does not support the dtype or if it cannot represent all integers from 0 to
/// n - 1; as in PyTorch, kBFloat16 need not represent all.
void check_permutation_fits(int64_t n, ScalarType dtype);

}  // namespace hearth
