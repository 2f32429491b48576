#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

/// The `out` windows of one dimension. Adaptive ones follow from `out` and the dimension's size.
struct Windows {
  int64_t out, kernel, stride, padding = 0, dilation = 1;
  bool adaptive = false;

  /// The first index of window i in a dimension of this size, and the index after its last.
  int64_t begin(int64_t i, int64_t size) const;
  int64_t end(int64_t i, int64_t size) const;
};
/// The windows of the last two or three dimensions.
using Frame = std::vector<Windows>;

/// Maxima and their row-major indices in the plane or volume.
Arrays max_reference(const Array& x, const Frame& frame);
/// Sums divided by the number of elements, or by `divisor` unless it is 0.
Array average_reference(const Array& x, const Frame& frame, double divisor);

/// An input without ties.
Input distinct(std::vector<int64_t> sizes);

/// A row for an op that returns maxima and their indices.
Row max_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
            std::function<TensorPair(const Tensor&)> op, Frame frame);
/// A row for an op that returns one tensor. Rows of maxima replace its reference, which averages.
Row average_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
                std::function<Tensor(const Tensor&)> op, Frame frame, double divisor = 0);

}  // namespace hearth::testing
