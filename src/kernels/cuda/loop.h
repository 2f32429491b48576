#pragma once

#include <cstdint>

#include "hearth/device.h"
#include "seam/pointwise.h"
#include "seam/view.h"

namespace hearth::cuda {

/// A kernel's loop over one shape with several strided operands; the last dimension varies fastest.
struct Loop {
  /// Indexing has two tensors and up to one index tensor per dimension.
  static constexpr int kMaxLoopOperands = kMaxDims + 2;

  int dim = 0;
  int operands = 0;
  int64_t sizes[kMaxDims];
  int64_t byte_strides[kMaxDims][kMaxLoopOperands];

  Loop() = default;
  Loop(int num_dims, const int64_t* dim_sizes);

  int64_t numel() const;
  /// Adds an operand with strides in elements of element_bytes bytes.
  void add(const int64_t* strides, size_t element_bytes);
  void add(const View& view) { add(view.strides, element_size(view.dtype)); }

  /// Sorts dimensions by decreasing stride of the first operand, equal ones by the next operand's,
  /// and calls merge(). For loops whose order does not matter.
  void sort();
  /// Drops dimensions of size 1 and merges adjacent dimensions that have a common stride in every
  /// operand; keeps the order.
  void merge();
};

/// Returns the dimensions d of `loop` with keep[d] or, if `inverse`, without it.
Loop select_dims(const Loop& loop, const bool* keep, bool inverse);

/// The parameters of to = from, converted if the dtypes differ; both have `to`'s sizes.
PointwiseParams copy_params(const View& to, const View& from);

/// A number as an operand, passed by value.
Operand number_operand(double value);

}  // namespace hearth::cuda
