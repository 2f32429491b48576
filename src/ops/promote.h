#pragma once

#include "core/op.h"

namespace hearth {

/// PyTorch's promotion: tensors with dimensions take priority over 0-d tensors, and 0-d tensors
/// over C++ numbers.
ScalarType result_type_of(Inputs inputs);

/// The dtype of sums of numbers of this dtype: float32 for half types, else the dtype itself.
inline ScalarType wide_type(ScalarType dtype) { return is_reduced_float(dtype) ? kFloat : dtype; }

/// Whether numbers are rounded to this dtype without a check of their range, as PyTorch does in
/// some ops: the floating dtypes of up to 16 bits.
constexpr bool is_rounded_float(ScalarType dtype) {
  return is_reduced_float(dtype) || is_float8(dtype);
}

/// The dtype in which a pointwise op computes with elements of this dtype: for one without kernels,
/// the signed integer of its size or float32, else the dtype itself.
constexpr ScalarType kernel_type(ScalarType dtype) {
  switch (dtype) {
    case kUInt16: return kShort;
    case kUInt32: return kInt;
    case kUInt64: return kLong;
    default: return is_float8(dtype) ? kFloat : dtype;
  }
}

/// The dtype a pointwise op computes in, by its Promote rule.
ScalarType compute_type(const OpInfo& info, Inputs inputs);

/// Throws "\"gelu\" not implemented for 'Long'" unless the op supports the dtype.
void check_dtype(const OpInfo& info, ScalarType dtype);

/// Throws "result type Float can't be cast to the desired output type Long" unless numbers of a
/// dtype can be cast to another.
void check_castable(ScalarType from, ScalarType to);

/// A 0-d CPU tensor that stands for a C++ number among tensors.
Tensor wrapped_number(const Scalar& value);

/// The sizes to which both broadcast; throws PyTorch's error if they do not broadcast.
Dims broadcast_sizes(IntArrayRef a, IntArrayRef b);

}  // namespace hearth
