#pragma once

#include "hearth/dtype.h"

namespace hearth {

/// Throws if integers of [from, to) do not fit the dtype; warns if a floating one skips some. The
/// bounds move to integers that it has.
void fit_random_range(ScalarType dtype, int64_t& from, int64_t& to);

/// The last integer that random_ draws for the dtype when no bound is given.
int64_t largest_random(ScalarType dtype);

/// Throws if [from, to) is no range of the dtype, or wider than its largest number.
void check_uniform_range(ScalarType dtype, double from, double to);

/// Throws if the dtype does not have every number from 0 to n - 1.
void check_permutation_fits(int64_t n, ScalarType dtype);

}  // namespace hearth
