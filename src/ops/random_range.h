#pragma once

#include "hearth/dtype.h"

namespace hearth {

/// Rounds the bounds to integers of the dtype. Throws if [from, to) does not fit it; warns if a
/// floating dtype lacks integers of the range.
void fit_random_range(ScalarType dtype, int64_t& from, int64_t& to);

/// The last integer that random_ draws for the dtype when no bound is given.
int64_t largest_random(ScalarType dtype);

/// Throws if [from, to) is no range of the dtype, or wider than its largest number.
void check_uniform_range(ScalarType dtype, double from, double to);

/// Throws unless the dtype has every integer from 0 to n - 1.
void check_permutation_fits(int64_t n, ScalarType dtype);

}  // namespace hearth
