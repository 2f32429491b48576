// Max and average pooling of images, [outer, depth, rows, columns, inner], and the gradients. The
// threads divide the rows of windows, backward the images. A row of windows is computed tap by tap:
// a run of input columns is combined with the outputs in the cache. Bound by two or three loads and
// one or two stores for each element of a window. Vectors of maxima: pool_max_loops.h.
#include "seam/pool.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "core/parallel_for.h"
#include "hearth/small_vector.h"
#include "kernels/cpu/pointwise_table.h"
#include "kernels/cpu/pool_layout.h"
#include "kernels/cpu/pool_max.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// `count` columns of the input, `in + i * in_step`, and the output columns whose windows contain
/// them: `out + i` or, with one_output, always `out`.
struct Run {
  int64_t out, count, in, in_step;
  bool one_output = false;
};
using Runs = SmallVector<Run, 8>;

/// Returns the runs of a row; every output gets the positions of its window from left to right.
Runs runs_of(const PoolWindow& w) {
  Runs runs;
  if (w.adaptive || w.begins) {
    for (int64_t i = 0; i < w.out; ++i)
      runs.push_back({i, w.last(i) - w.first(i), w.first(i), 1, true});
    return runs;
  }
  // If the kernel is larger than the input, skips taps that never fall inside the input.
  const int64_t last_padding = w.padding - (w.out - 1) * w.stride;  // of the last window
  const int64_t first_tap = last_padding <= 0 ? 0 : (last_padding + w.dilation - 1) / w.dilation;
  const int64_t end_tap = std::min(w.kernel, (w.in - 1 + w.padding) / w.dilation + 1);
  for (int64_t k = first_tap; k < end_tap; ++k) {
    const int64_t shift = k * w.dilation - w.padding, last = w.in - 1 - shift;
    const int64_t begin = shift >= 0 ? 0 : (-shift + w.stride - 1) / w.stride;
    const int64_t end = last < 0 ? 0 : std::min(w.out, last / w.stride + 1);
    if (begin < end) runs.push_back({begin, end - begin, begin * w.stride + shift, w.stride});
  }
  return runs;
}

/// Calls f(output offset, input offset, input column) for every element of a run.
template <bool flat, class F>
[[gnu::always_inline]] inline void for_each_element(const Run& run, int64_t inner,
                                                    int64_t column_stride, const F& f) {
  const int64_t n = run.count, out = run.out, in = run.in, step = run.in_step;
  if constexpr (flat) {
    if (run.one_output)
      for (int64_t i = 0; i < n; ++i) f(out, in + i, in + i);
    else
      for (int64_t i = 0; i < n; ++i) f(out + i, in + i * step, in + i * step);
  } else {
    const int64_t out_step = run.one_output ? 0 : inner;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t to = out * inner + i * out_step, column = in + i * step;
      for (int64_t c = 0; c < inner; ++c) f(to + c, column * column_stride + c, column);
    }
  }
}

/// The index of a row of windows in the output.
struct WindowRow {
  int64_t layer, row;
  void advance(int64_t height) {
    if (++row < height) return;
    row = 0;
    ++layer;
  }
};

/// The loops of pooling in one dtype. `flat`: the inner dimension of the layout is 1.
template <class T, bool flat>
class PoolLoops {
 public:
  PoolLoops(const PoolShape& shape, const ImageLayout& layout, const ImageStrides& strides)
      : shape_(shape), strides_(strides), inner_(flat ? 1 : layout.inner) {
    if constexpr (kHasTaps) taps_.emplace(shape_, strides.layer, strides.row);
    if (shape.kind != PoolKind::kFractionalMax) prepare();
  }

  void set_begins(const int64_t* begins) {
    shape_.set_begins(begins);
    prepare();
  }

  /// Computes the largest elements of one row of windows, and their indices in the volume.
  void max_row(const T* in, WindowRow r, T* out, int64_t* indices) const {
    if constexpr (std::is_same_v<T, float>)
      if (max_row_by_vectors(in, r, out, indices)) return;
    std::fill_n(out, shape_.columns().out * inner_, kLowest);
    const int64_t nearest = nearest_line(r);
    for (int64_t j = 0; j < shape_.columns().out; ++j)
      std::fill_n(indices + j * inner_, inner_, nearest + per_column_[size_t(j)]);
    for_each_line(r, [&](int64_t z, int64_t h) {
      const T* const values = in + z * strides_.layer + h * strides_.row;
      const int64_t first = line(z, h);
      for (const Run run : runs_)
        for_each_element<flat>(
            run, inner_, strides_.column, [&](int64_t to, int64_t from, int64_t column) {
              const T x = values[from], best = out[to];
              const T larger = x > best ? x : best;
              out[to] = x != x ? x : larger;
              // Arithmetic, since a branch would often be mispredicted.
              const int64_t keep_mask = int64_t((x > best) | (x != x)) - 1;
              indices[to] = (indices[to] & keep_mask) | ((first + column) & ~keep_mask);
            });
    });
  }

  void average_row(const T* in, WindowRow r, T* out) const {
    std::fill_n(out, shape_.columns().out * inner_, T(0));
    for_each_line(r, [&](int64_t z, int64_t h) {
      const T* const values = in + z * strides_.layer + h * strides_.row;
      for (const Run run : runs_)
        for_each_element<flat>(run, inner_, strides_.column,
                               [&](int64_t to, int64_t from, int64_t) { out[to] += values[from]; });
    });
    divide(out, r);
  }

  /// Adds the gradients of one row of averages to grad_in; `shares` is scratch memory for a row.
  void average_row_backward(const T* grad_out, WindowRow r, T* shares, T* grad_in) const {
    std::copy_n(grad_out, shape_.columns().out * inner_, shares);
    divide(shares, r);
    for_each_line(r, [&](int64_t z, int64_t h) {
      T* const values = grad_in + z * strides_.layer + h * strides_.row;
      for (const Run run : runs_)
        for_each_element<flat>(
            run, inner_, strides_.column,
            [&](int64_t from, int64_t to, int64_t) { values[to] += shares[from]; });
    });
  }

  /// Adds the gradients of an image's maxima to grad_in at their indices.
  void max_backward(const T* grad_out, const int64_t* indices, T* grad_in) const {
    const int64_t count = shape_.depth().out * shape_.rows().out * shape_.columns().out;
    for (int64_t p = 0; p < count; ++p)
      for (int64_t c = 0; c < inner_; ++c)
        grad_in[indices[p * inner_ + c] * inner_ + c] += grad_out[p * inner_ + c];
  }

 private:
  static constexpr bool kHasTaps = flat && std::is_same_v<T, float>;
  static constexpr T kLowest = std::numeric_limits<T>::has_infinity
                                   ? -std::numeric_limits<T>::infinity()
                                   : std::numeric_limits<T>::lowest();

  /// Like max_row(). Returns false, without an effect, if vectors do not suit the row.
  bool max_row_by_vectors(const T* in, WindowRow r, T* out, int64_t* indices) const {
    const int64_t columns = shape_.columns().out;
    if constexpr (flat) {
      if (!taps_->run(in, r.layer, r.row, out, indices)) return false;
      max_windows(in, r, 0, taps_->first_column(), out, indices);
      max_windows(in, r, taps_->end_column(), columns, out, indices);
    } else {
      if (!has_small_positions(shape_)) return false;
      max_windows(in, r, 0, columns, out, indices);
    }
    return true;
  }
  /// Computes the columns [begin, end) of a row of windows, one window at a time.
  void max_windows(const T* in, WindowRow r, int64_t begin, int64_t end, T* out,
                   int64_t* indices) const {
    if (begin == end) return;
    ChannelWindow window;
    for (int64_t j = begin; j < end; ++j) {
      set_elements(window, r, j);
      T* const to = out + j * inner_;
      if (!window.offsets.empty()) {
        window.run(in, inner_, to, indices + j * inner_);
      } else {
        std::fill_n(to, inner_, kLowest);
        std::fill_n(indices + j * inner_, inner_, nearest_line(r) + per_column_[size_t(j)]);
      }
    }
  }
  /// Sets the elements of the window at column j of a row of windows.
  void set_elements(ChannelWindow& window, WindowRow r, int64_t j) const {
    const PoolWindow& columns = shape_.columns();
    window.offsets.clear();
    window.positions.clear();
    for_each_line(r, [&](int64_t z, int64_t h) {
      for (int64_t x = columns.first(j); x < columns.last(j); x += columns.dilation) {
        window.offsets.push_back(z * strides_.layer + h * strides_.row + x * strides_.column);
        window.positions.push_back(int32_t(line(z, h) + x));
      }
    });
  }
  /// The index in the volume of the first element of the line that is nearest to a row of windows.
  /// A window without an element gets the index of the nearest element.
  int64_t nearest_line(WindowRow r) const {
    return line(nearest(shape_.depth(), r.layer), nearest(shape_.rows(), r.row));
  }

  static int64_t nearest(const PoolWindow& w, int64_t i) { return std::min(w.first(i), w.in - 1); }
  /// The index in the volume of the first element of an input row.
  int64_t line(int64_t z, int64_t h) const {
    return (z * shape_.rows().in + h) * shape_.columns().in;
  }

  /// Calls f(layer, row) for the input rows that a row of windows covers.
  template <class F>
  void for_each_line(WindowRow r, const F& f) const {
    for (int64_t z = shape_.depth().first(r.layer); z < shape_.depth().last(r.layer);
         z += shape_.depth().dilation)
      for (int64_t h = shape_.rows().first(r.row); h < shape_.rows().last(r.row);
           h += shape_.rows().dilation)
        f(z, h);
  }
  /// Divides a row of sums by their divisors.
  void divide(T* out, WindowRow r) const {
    const int64_t lines =
        shape_.divisor != 0 ? 1 : shape_.counted(0, r.layer) * shape_.counted(1, r.row);
    for (int64_t j = 0; j < shape_.columns().out; ++j) {
      const T divisor = T(lines * per_column_[size_t(j)]);
      for (int64_t c = 0; c < inner_; ++c) out[j * inner_ + c] /= divisor;
    }
  }
  /// Computes the values that all rows of windows share.
  void prepare() {
    const PoolWindow& w = shape_.columns();
    runs_ = runs_of(w);
    per_column_.clear();
    for (int64_t j = 0; j < w.out; ++j)
      per_column_.push_back(is_max(shape_.kind)   ? nearest(w, j)
                            : shape_.divisor != 0 ? shape_.divisor
                                                  : shape_.counted(2, j));
  }

  PoolShape shape_;
  const ImageStrides strides_;
  const int64_t inner_;
  std::optional<MaxTaps> taps_;  // if kHasTaps
  Runs runs_;
  // For each output column: for maxima the nearest input column, for averages the divisor.
  SmallVector<int64_t, 32> per_column_;
};

struct Extent {
  int64_t rows;    // of windows, in an image
  int64_t width;   // output elements of a row of windows
  int64_t volume;  // elements of an input image

  Extent(const PoolShape& s, const ImageLayout& layout)
      : rows(s.depth().out * s.rows().out),
        width(s.columns().out * layout.inner),
        volume(s.depth().in * s.rows().in * s.columns().in * layout.inner) {}
};

template <class T, bool flat>
void run_loops(const PoolParams& p, const ImageLayout& layout) {
  const Extent extent(p.shape, layout);
  const ImageStrides strides(p.in, layout);
  const int64_t rows = extent.rows, width = extent.width, height = p.shape.rows().out;
  const int64_t work = std::max<int64_t>(extent.volume / rows, 1);
  const PoolLoops<T, flat> loops(p.shape, layout, strides);
  parallel_for(0, layout.outer * rows, kMoveGrain / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t image = i / rows, first = i % rows, count = std::min(rows - first, end - i);
      const T* const in = p.in.as<T>() + strides.image_offset(image);
      const auto run = [&](const PoolLoops<T, flat>& of_image) {
        WindowRow row{first / height, first % height};
        for (int64_t k = i; k < i + count; ++k, row.advance(height)) {
          T* const out = p.out.as<T>() + k * width;
          if (is_max(p.shape.kind))
            of_image.max_row(in, row, out, p.indices.as<int64_t>() + k * width);
          else
            of_image.average_row(in, row, out);
        }
      };
      if (p.begins.defined()) {
        PoolLoops<T, flat> image_loops = loops;
        image_loops.set_begins(p.begins.as<int64_t>() + image * p.shape.begins());
        run(image_loops);
      } else {
        run(loops);
      }
      i += count;
    }
  });
}

template <class T, bool flat>
void run_loops(const PoolBackwardParams& p, const ImageLayout& layout) {
  const Extent extent(p.shape, layout);
  const PoolLoops<T, flat> loops(p.shape, layout, ImageStrides(p.grad_in, layout));
  const int64_t rows = extent.rows, width = extent.width, height = p.shape.rows().out;
  parallel_for(0, layout.outer, kMoveGrain / extent.volume + 1, [&](int64_t begin, int64_t end) {
    std::vector<T> shares(is_max(p.shape.kind) ? 0 : size_t(width));
    for (int64_t i = begin; i < end; ++i) {
      T* const grad_in = p.grad_in.as<T>() + i * extent.volume;
      const T* const grad_out = p.grad_out.as<T>() + i * rows * width;
      std::fill_n(grad_in, extent.volume, T(0));
      if (is_max(p.shape.kind)) {
        loops.max_backward(grad_out, p.indices.as<int64_t>() + i * rows * width, grad_in);
        continue;
      }
      WindowRow row{0, 0};
      for (int64_t k = 0; k < rows; ++k, row.advance(height))
        loops.average_row_backward(grad_out + k * width, row, shares.data(), grad_in);
    }
  });
}

template <class T, class Params>
void run_as(const Params& params, const ImageLayout& layout) {
  layout.inner == 1 ? run_loops<T, true>(params, layout) : run_loops<T, false>(params, layout);
}

/// Calls f with a value of the dtype's type.
template <class F>
void with_type(ScalarType dtype, const F& f) {
  switch (dtype) {
    case kByte: return f(uint8_t{});
    case kChar: return f(int8_t{});
    case kShort: return f(int16_t{});
    case kInt: return f(int32_t{});
    case kLong: return f(int64_t{});
    case kDouble: return f(double{});
    default: return f(float{});
  }
}

void copy_unless_same(const View& from, const View& to, Ctx& ctx) {
  if (from.data != to.data) copy(from, to, ctx);
}

}  // namespace

void run(const PoolParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const ScalarType dtype = lane_dtype(params.in.dtype);
  const ImageLayout layout(params.out);
  PoolParams p = params;
  p.in = layout.readable(params.in, dtype, ctx);
  p.out = layout.fitted(params.out, dtype, ctx);
  p.indices = layout.fitted(params.indices, kLong, ctx);
  copy_unless_same(params.in, p.in, ctx);
  with_type(dtype, [&]<class T>(T) { run_as<T>(p, layout); });
  copy_unless_same(p.out, params.out, ctx);
  if (p.indices.defined()) copy_unless_same(p.indices, params.indices, ctx);
}

void run(const PoolBackwardParams& params, Ctx& ctx) {
  if (params.grad_in.numel == 0) return;
  const ScalarType dtype = lane_dtype(params.grad_in.dtype);
  const ImageLayout layout(params.grad_in);
  PoolBackwardParams p = params;
  p.grad_out = layout.fitted(params.grad_out, dtype, ctx);
  p.grad_in = layout.fitted(params.grad_in, dtype, ctx);
  p.indices = layout.fitted(params.indices, kLong, ctx);
  copy_unless_same(params.grad_out, p.grad_out, ctx);
  if (p.indices.defined()) copy_unless_same(params.indices, p.indices, ctx);
  dtype == kDouble ? run_as<double>(p, layout) : run_as<float>(p, layout);
  copy_unless_same(p.grad_in, params.grad_in, ctx);
}

}  // namespace hearth::cpu
