// softmax and log_softmax along a dimension, each line of elements by itself, and the gradients.
// The threads divide the lines; eight or more lines that are adjacent in memory or of at most 12
// elements are computed side by side, up to 256 at a time. A line takes three passes (maximum, sum
// of exponentials, result), backward two. Bound by an exponential for each element (two if softmax
// cannot store the first one in the result, as for half types), the gradient of softmax by memory.
#include "seam/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/softmax_kernels.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kConvertedBlock = 1024;   // elements of a segment that is converted at once
constexpr int64_t kColumns = 256;           // lines that are computed side by side
constexpr int64_t kFewColumns = 8;          // fewer lines are computed one by one
constexpr int64_t kShortLine = 12;          // elements; many lines this short are side by side
constexpr int64_t kSoftmaxGrain = 1 << 13;  // up to this many elements run on one thread

const SoftmaxTable& softmax_table() { return HEARTH_ISA_TABLE(softmax_table); }

/// The lines along a dimension of K views, visited one by one or side by side. At least kFewColumns
/// lines are side by side if the elements of adjacent lines at one position are contiguous, or if
/// the lines are too short to fill vectors.
template <int K>
class SoftmaxLines {
 public:
  SoftmaxLines(std::array<View, K> views, int dim, ScalarType compute) : compute_(compute) {
    for (int k = 0; k < K; ++k) {
      View& view = views[size_t(k)];
      views_[k] = view;
      line_strides_[k] = view.dim > 0 ? view.strides[dim] : 1;
      length_ = view.dim > 0 ? view.sizes[dim] : 1;
      if (view.dim > 0) view.sizes[dim] = 1;
      if (k == 0) {
        lines_.dim = view.dim;
        std::copy_n(view.sizes, view.dim, lines_.sizes);
      }
      lines_.add(view.strides);
    }
    lines_.merge();
    side_by_side_ = lines_.dim > 0 && lines_.sizes[lines_.dim - 1] >= kFewColumns &&
                    (length_ <= kShortLine || has_adjacent_lines());
    bool needs_conversion = false;
    for (int k = 0; k < K; ++k) needs_conversion |= !direct(k);
    if (!needs_conversion) block_ = std::max<int64_t>(length_, 1);
  }

  bool side_by_side() const { return side_by_side_; }
  /// Whether view k can be used in place.
  bool direct(int k) const { return views_[k].dtype == compute_ && stride(k) == 1; }

  /// Calls f(offsets, width) for each line (width 1), or for groups of `width` lines side by side.
  template <class F>
  void for_each(const F& f) const {
    const int64_t grain = std::max<int64_t>(kSoftmaxGrain / std::max<int64_t>(length_, 1), 1);
    parallel_for(0, lines_.numel(), grain, [&](int64_t begin, int64_t end) {
      lines_.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
        const int64_t step = side_by_side_ ? kColumns : 1;
        int64_t line_offsets[K];
        for (int64_t i = 0; i < count; i += step) {
          for (int k = 0; k < K; ++k) line_offsets[k] = offsets[k] + i * lines_.inner_stride(k);
          f(static_cast<const int64_t*>(line_offsets), std::min(step, count - i));
        }
      });
    });
  }

  /// Calls f(position, n) for the segments of the lines in order. If lines are visited one by one,
  /// a segment is the n elements of a line from that position on. Side by side, it is the elements
  /// of all n = width lines at that position.
  template <class F>
  void for_segments(int64_t width, const F& f) const {
    if (side_by_side_)
      for (int64_t i = 0; i < length_; ++i) f(i, width);
    else
      for (int64_t i = 0; i < length_; i += block_) f(i, std::min(block_, length_ - i));
  }
  /// Returns the n elements of a segment of view k: in place, or converted into the buffer.
  const void* read(int k, int64_t offset, int64_t position, int64_t n, void* buffer) const {
    const void* from = address(k, offset, position);
    if (direct(k)) return from;
    StridedConvert(views_[k].dtype, compute_)(from, stride(k), buffer, 1, n);
    return buffer;
  }
  void* target(int k, int64_t offset, int64_t position, void* buffer) const {
    return direct(k) ? address(k, offset, position) : buffer;
  }
  void write_back(int k, int64_t offset, int64_t position, int64_t n, const void* buffer) const {
    if (!direct(k))
      StridedConvert(compute_, views_[k].dtype)(buffer, 1, address(k, offset, position), stride(k),
                                                n);
  }

 private:
  /// Whether the elements of adjacent lines at one position are contiguous in every view, and those
  /// of a line are not.
  bool has_adjacent_lines() const {
    for (int k = 0; k < K; ++k)
      if (lines_.inner_stride(k) != 1) return false;
    return !std::all_of(line_strides_, line_strides_ + K, [](int64_t s) { return s == 1; });
  }
  /// The distance between adjacent elements of a segment.
  int64_t stride(int k) const { return side_by_side_ ? lines_.inner_stride(k) : line_strides_[k]; }
  void* address(int k, int64_t offset, int64_t position) const {
    return static_cast<char*>(views_[k].data) +
           (offset + position * line_strides_[k]) * int64_t(element_size(views_[k].dtype));
  }

  View views_[K];
  StridedLoop<K> lines_;
  int64_t line_strides_[K];
  int64_t length_ = 1, block_ = kConvertedBlock;
  ScalarType compute_;
  bool side_by_side_;
};

template <class T>
struct Buffer {
  alignas(64) T values[kConvertedBlock];
};

template <class T>
void softmax(const SoftmaxParams& params, const SoftmaxLoops& loops) {
  const SoftmaxLines<2> lines({params.in, params.out}, params.dim, dtype_of<T>);
  const bool side_by_side = lines.side_by_side(), writes_exp = !params.log && lines.direct(1);
  lines.for_each([&](const int64_t* offsets, int64_t width) {
    Buffer<T> in, out;
    alignas(64) T maxima[kColumns], sums[kColumns], unused[kColumns];
    std::fill_n(maxima, width, -std::numeric_limits<T>::infinity());
    for (T* zeroed : {sums, unused}) std::fill_n(zeroed, width, T(0));
    lines.for_segments(width, [&](int64_t i, int64_t n) {
      loops.max[side_by_side](lines.read(0, offsets[0], i, n, in.values), n, maxima);
    });
    lines.for_segments(width, [&](int64_t i, int64_t n) {
      loops.exp_sum[side_by_side](lines.read(0, offsets[0], i, n, in.values),
                                  writes_exp ? lines.target(1, offsets[1], i, nullptr) : nullptr, n,
                                  maxima, sums);
    });
    for (int64_t j = 0; j < width; ++j) sums[j] = params.log ? std::log(sums[j]) : 1 / sums[j];
    lines.for_segments(width, [&](int64_t i, int64_t n) {
      void* const y = lines.target(1, offsets[1], i, out.values);
      if (params.log) {
        loops.shift[side_by_side](lines.read(0, offsets[0], i, n, in.values), y, n, maxima, sums);
      } else {
        if (!writes_exp)
          loops.exp_sum[side_by_side](lines.read(0, offsets[0], i, n, in.values), y, n, maxima,
                                      unused);
        loops.scale[side_by_side](y, y, n, sums);
      }
      lines.write_back(1, offsets[1], i, n, out.values);
    });
  });
}

template <class T>
void softmax_backward(const SoftmaxBackwardParams& params, const SoftmaxLoops& loops) {
  const SoftmaxLines<3> lines({params.grad, params.out, params.grad_in}, params.dim, dtype_of<T>);
  const bool side_by_side = lines.side_by_side();
  lines.for_each([&](const int64_t* offsets, int64_t width) {
    Buffer<T> g, y, result;
    alignas(64) T sums[kColumns];
    std::fill_n(sums, width, T(0));
    lines.for_segments(width, [&](int64_t i, int64_t n) {
      loops.dot[side_by_side][params.log](lines.read(0, offsets[0], i, n, g.values),
                                          lines.read(1, offsets[1], i, n, y.values), n, sums);
    });
    lines.for_segments(width, [&](int64_t i, int64_t n) {
      loops.gradient[side_by_side][params.log](
          lines.read(0, offsets[0], i, n, g.values), lines.read(1, offsets[1], i, n, y.values),
          lines.target(2, offsets[2], i, result.values), n, sums);
      lines.write_back(2, offsets[2], i, n, result.values);
    });
  });
}

}  // namespace

void run(const SoftmaxParams& params, Ctx&) {
  if (params.in.numel == 0) return;
  if (params.in.dtype == kDouble) return softmax<double>(params, softmax_table().f64);
  softmax<float>(params, softmax_table().f32);
}

void run(const SoftmaxBackwardParams& params, Ctx&) {
  if (params.out.numel == 0) return;
  if (params.out.dtype == kDouble) return softmax_backward<double>(params, softmax_table().f64);
  softmax_backward<float>(params, softmax_table().f32);
}

}  // namespace hearth::cpu
