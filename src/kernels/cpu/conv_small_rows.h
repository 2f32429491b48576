#pragma once

// Computes the moves between an image and its shifted rows (see conv_small.cpp), once for a call.

#include <algorithm>

#include "kernels/cpu/conv_small_kernels.h"
#include "seam/conv.h"

namespace hearth::cpu {

/// The rows of one image as the columns x of a convolution's kernel read them:
/// `rows[c][x][phase][y][out_x] = in[c][stride * y + phase - padding][position of out_x for x]`,
/// and 0 beyond the image's edges. For output (out_y, out_x), kernel row k reads element (out_y +
/// shift_of(k), out_x) of phase phase_of(k). An image with one spatial dimension has one row.
class ShiftedRows {
 public:
  explicit ShiftedRows(const ConvParams& p)
      : ShiftedRows(p, p.spatial() == 2 ? 2 : -1, p.in.dim - 1) {}

  const int64_t channels, kernel_h, kernel_w, out_h, out_w;
  const int64_t phases;  // phase_of() is always below this

  int64_t phase_of(int64_t kernel_row) const { return kernel_row * dilation_h_ % stride_h_; }
  int64_t shift_of(int64_t kernel_row) const { return kernel_row * dilation_h_ / stride_h_; }
  /// The largest shift.
  int64_t lead() const { return shift_of(kernel_h - 1); }
  /// The number of elements of an image's output plane, of one phase, and of all rows.
  int64_t plane_out() const { return out_h * out_w; }
  int64_t plane() const { return (out_h + lead()) * out_w; }
  int64_t size() const { return channels * kernel_w * phases * plane(); }
  /// Whether size() is at most `most`; with a large dilation, size() may overflow.
  bool has_at_most(int64_t most) const {
    const double rows = double(channels) * double(kernel_w) * double(phases);
    return rows * (double(out_h) + double(lead())) * double(out_w) <= double(most);
  }
  int64_t plane_in() const { return height_ * width_; }
  int64_t stride() const { return stride_w_; }
  int64_t offset(int64_t channel, int64_t kernel_row, int64_t kernel_column) const {
    return ((channel * kernel_w + kernel_column) * phases + phase_of(kernel_row)) * plane() +
           shift_of(kernel_row) * out_w;
  }

  /// The number of moves that fill the rows; the other elements are 0.
  int64_t count_moves() const {
    int64_t count = 0;
    for_each_move([&count](const RowMove&) { ++count; });
    return count;
  }
  void write_moves(RowMove* moves) const {
    for_each_move([&moves](const RowMove& move) { *moves++ = move; });
  }

 private:
  /// The output columns for which a column of the kernel is inside the image, and the place of the
  /// first one in the image.
  struct Columns {
    int64_t first, end, position;
  };

  /// h and w are the dimensions of the image's rows and columns; h is -1 if the image has one row.
  ShiftedRows(const ConvParams& p, int h, int w)
      : channels(p.weight.sizes[1]),
        kernel_h(h < 0 ? 1 : p.weight.sizes[h]),
        kernel_w(p.weight.sizes[w]),
        out_h(h < 0 ? 1 : p.out.sizes[h]),
        out_w(p.out.sizes[w]),
        phases(h < 0 ? 1 : std::min(p.stride[0], (kernel_h - 1) * p.dilation[0] + 1)),
        height_(h < 0 ? 1 : p.in.sizes[h]),
        width_(p.in.sizes[w]),
        stride_h_(h < 0 ? 1 : p.stride[0]),
        dilation_h_(h < 0 ? 1 : p.dilation[0]),
        padding_h_(h < 0 ? 0 : p.padding[0]),
        stride_w_(p.stride[w - 2]),
        dilation_w_(p.dilation[w - 2]),
        padding_w_(p.padding[w - 2]) {}

  Columns columns(int64_t kernel_column) const {
    const int64_t start = kernel_column * dilation_w_ - padding_w_;  // the position for column 0
    const int64_t first = std::clamp<int64_t>((stride_w_ - 1 - start) / stride_w_, 0, out_w);
    const int64_t last = width_ - 1 - start;  // of the positions relative to start
    const int64_t end = last < 0 ? first : std::clamp(last / stride_w_ + 1, first, out_w);
    return {first, end, start + first * stride_w_};
  }

  template <class F>
  void for_each_move(const F& f) const {
    int64_t row = 0;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t x = 0; x < kernel_w; ++x) {
        const Columns inside = columns(x);
        for (int64_t phase = 0; phase < phases; ++phase)
          for (int64_t i = 0; i < out_h + lead(); ++i, row += out_w) {
            const int64_t y = stride_h_ * i + phase - padding_h_;
            if (y < 0 || y >= height_ || inside.first == inside.end) continue;
            f(RowMove{(c * height_ + y) * width_ + inside.position, row + inside.first,
                      inside.end - inside.first});
          }
      }
  }

  const int64_t height_, width_;
  const int64_t stride_h_, dilation_h_, padding_h_, stride_w_, dilation_w_, padding_w_;
};

}  // namespace hearth::cpu
