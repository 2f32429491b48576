#pragma once

// The memory orders of the images that pooling reads and writes.

#include <cstdint>

#include "hearth/dtype.h"
#include "seam/ctx.h"
#include "seam/view.h"

namespace hearth::cpu {

/// The memory order of images as `[outer, depth, rows, columns, inner]`: if contiguous, outer is
/// N * C and inner is 1; if channels_last, outer is N and inner is C.
struct ImageLayout {
  int64_t outer, inner;
  bool channels_last;

  explicit ImageLayout(const View& view) : outer(view.sizes[0] * view.sizes[1]), inner(1) {
    channels_last = !view.contiguous() && has_order(view, true);
    if (!channels_last) return;
    outer = view.sizes[0];
    inner = view.sizes[1];
  }
  static constexpr int kDimOrders[][5] = {{0, 1, 2, 3, 4}, {0, 2, 3, 4, 1}};
  static bool has_order(const View& view, bool channels_last) {
    int64_t expected = 1;
    for (int i = 4; i >= 0; --i) {
      const int d = kDimOrders[channels_last][i];
      if (view.sizes[d] != 1 && view.strides[d] != expected) return false;
      expected *= view.sizes[d];
    }
    return true;
  }
  /// Returns the view if it has this layout and dtype, else uninitialised scratch memory with both.
  View fitted(const View& view, ScalarType dtype, Ctx& ctx) const {
    if (!view.defined() || (view.dtype == dtype && has_order(view, channels_last))) return view;
    View result = view;
    result.dtype = dtype;
    int64_t stride = 1;
    for (int i = 4; i >= 0; --i) {
      const int d = kDimOrders[channels_last][i];
      result.strides[d] = stride;
      stride *= view.sizes[d];
    }
    result.data = ctx.scratch(size_t(view.numel) * element_size(dtype));
    return result;
  }
  /// Like fitted() for an input: only the layout's innermost dimension has to be dense.
  View readable(const View& view, ScalarType dtype, Ctx& ctx) const {
    const int last = channels_last ? 1 : 4;
    const bool dense = view.sizes[last] == 1 || view.strides[last] == 1;
    return dense && view.dtype == dtype ? view : fitted(view, dtype, ctx);
  }
};

/// The strides of images.
struct ImageStrides {
  int64_t batch, channel, layer, row, column;
  int64_t images_per_sample;  // the number of channels, or 1 if they are the inner dimension

  ImageStrides(const View& view, const ImageLayout& layout)
      : batch(view.strides[0]),
        channel(view.strides[1]),
        layer(view.strides[2]),
        row(view.strides[3]),
        column(view.strides[4]),
        images_per_sample(layout.channels_last ? 1 : view.sizes[1]) {}
  int64_t image_offset(int64_t i) const {
    return i / images_per_sample * batch + i % images_per_sample * channel;
  }
};

}  // namespace hearth::cpu
