#pragma once

#include <cstdint>

#include "hearth/device.h"
#include "seam/pointwise.h"
#include "seam/view.h"

namespace hearth::cuda {

/// A kernel's loop over one shape with several strided operands; the last dimension varies fastest.
struct Loop {
  static constexpr int kMaxLoopOperands =
      kMaxDims + 2;  // indexing reads as many index tensors as there are dimensions

  int dim = 0;
  int operands = 0;
  int64_t sizes[kMaxDims];
  int64_t byte_strides[kMaxDims][kMaxLoopOperands];

  Loop() = default;
  Loop(int dim, const int64_t* sizes);

  int64_t numel() const;
  /// Adds an operand with strides in elements of `bytes` bytes.
  void add(const int64_t* strides, size_t bytes);
  void add(const View& view) { add(view.strides, element_size(view.dtype)); }

  /// Orders dimensions by the first operand's strides and merges them as merge() does. For loops
  /// whose order does not matter.
  void sort();
  /// Drops dimensions of size 1 and merges adjacent dimensions that one stride can serve in every
  /// operand; keeps the order.
  void merge();
};

/// The dimensions of `loop` for which keep[d] is set (or not set, if `inverse`).
Loop select_dims(const Loop& loop, const bool* keep, bool inverse);

/// to = from, converted if the dtypes differ; both have `to`'s sizes.
PointwiseParams copy_params(const View& to, const View& from);

/// A number as an operand, passed by value.
Operand number_operand(double value);

}  // namespace hearth::cuda
