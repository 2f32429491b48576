#pragma once

#include <algorithm>
#include <cstdint>

#include "hearth/error.h"
#include "seam/view.h"

namespace hearth {

/// The sizes of a batch of matrices.
struct MatrixSizes {
  int rows, columns;
  int64_t count = 1;

  explicit MatrixSizes(const View& view)
      : rows(size_of(view, view.dim - 2)), columns(size_of(view, view.dim - 1)) {
    for (int d = 0; d < view.dim - 2; ++d) count *= view.sizes[d];
  }
  static int size_of(const View& view, int dim) {
    HEARTH_CHECK(view.sizes[dim] <= INT32_MAX, "linear algebra supports matrices of up to ",
                 INT32_MAX, " rows and columns, got ", view.sizes[dim]);
    return static_cast<int>(view.sizes[dim]);
  }
  int shorter() const { return std::min(rows, columns); }
  int longer() const { return std::max(rows, columns); }
  /// The elements of matrix i; the matrices are stored one after the other.
  template <class T>
  T* at(const View& view, int64_t i) const {
    return view.as<T>() + i * rows * columns;
  }
};

/// Calls f(T()) with the type T of the elements.
template <class F>
void with_real(ScalarType dtype, const F& f) {
  dtype == kDouble ? f(double()) : f(float());
}

}  // namespace hearth
