#pragma once

#include <cstdint>

#include "hearth/dtype.h"

namespace hearth::cpu {

/// Converts n elements, `from_stride` apart, into n elements `to_stride` apart.
using ConvertFn = void (*)(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                           int64_t n);

/// The conversion into a type that reductions are computed in (as reduce_compute_type), and back. Bools are
/// bytes of 0 and 1; complex numbers lose their imaginary part.
ConvertFn convert_to_compute(ScalarType from, ScalarType compute);
ConvertFn convert_from_compute(ScalarType compute, ScalarType to);

}  // namespace hearth::cpu
