#pragma once

#include <cstdint>

#include "kernels/cpu/reduce_convert.h"
#include "seam/view.h"

namespace hearth::cpu {

/// Images `[outer, rows, columns, inner]` in any layout; strides are in elements. `inner` is the
/// number of channels if they are adjacent in memory, else 1.
struct UpsampleImages {
  char* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  int64_t outer_sizes[3] = {1, 1, 1}, outer_strides[3] = {0, 0, 0};
  int64_t rows = 1, row_stride = 0, columns = 1, column_stride = 1, inner = 1, inner_stride = 1;

  /// The images of [batch, channels, depth, height, width]: `row_dim` is the dimension of an
  /// image's rows: height, with one image per depth, or depth, with one image per height.
  UpsampleImages(const View& view, int row_dim, bool channels_inside);

  int64_t outer() const { return outer_sizes[0] * outer_sizes[1] * outer_sizes[2]; }
  int64_t width() const { return columns * inner; }
  /// Whether a row is `width()` elements without gaps.
  bool dense_rows() const {
    return (columns == 1 || column_stride == inner) && (inner == 1 || inner_stride == 1);
  }
  char* row(int64_t image, int64_t r) const;
};

/// Reads and writes rows of images in the compute dtype.
class UpsampleRows {
 public:
  UpsampleRows(const UpsampleImages& images, ScalarType compute)
      : images_(images),
        direct_(images.dtype == compute && images.dense_rows()),
        load_(images.dtype, compute),
        store_(compute, images.dtype),
        bytes_(int64_t(element_size(images.dtype))),
        compute_bytes_(int64_t(element_size(compute))) {}
  /// Whether rows can be used in place.
  bool direct() const { return direct_; }
  void read(int64_t image, int64_t r, void* to) const;
  void write(const void* from, int64_t image, int64_t r) const;

 private:
  const UpsampleImages& images_;
  const bool direct_;
  const StridedConvert load_, store_;
  const int64_t bytes_, compute_bytes_;
};

}  // namespace hearth::cpu
