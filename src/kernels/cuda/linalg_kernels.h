#pragma once

#include <cstdint>

#include "kernels/linalg_sizes.h"
#include "seam/ctx.h"

namespace hearth::cuda {

/// The part of a matrix that is checked.
enum class Part : int8_t { kAll, kUpper, kLower };

/// Finds the matrices with infinite or NaN elements: sets flags[i] to 0, kInfinite or kNan.
inline constexpr int kInfinite = 1, kNan = 2;
void find_not_finite(const View& matrices, Part part, int* flags, Ctx& ctx);

/// Sets the elements of the matrices with a flag to a value; `elements` is the number of elements
/// of one matrix.
void fill_flagged(const View& view, int64_t elements, const int* flags, double value, Ctx& ctx);

/// Sets info[i] = on_nan where flags[i] is kNan, and 0 where it is kInfinite.
void set_info(int* info, int64_t count, const int* flags, int on_nan, Ctx& ctx);

/// Sets info[i], where it is 0, to the number of the first NaN or, if `zero_counts`, zero on the
/// diagonal, counted from 1.
void check_diagonal(const View& matrices, bool zero_counts, int* info, Ctx& ctx);

}  // namespace hearth::cuda
