// A convolution, or the gradient of its input or weight, by matrix products: the windows of a block
// of output rows become a matrix [channels * kernel, positions] of up to about 1 MiB, which stays
// in the cache. A task is a block, for the input an image's group, for the weight one of up to 8
// partial sums. Bound by the multiplications; with few output channels, by writing and reading the
// windows.
#include "kernels/cpu/conv_columns.h"

#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "kernels/cpu/blas.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kColumnsBytes = 1 << 20;  // of a column matrix, which then stays in the cache
constexpr int64_t kPartialSums = 8;  // of a weight's gradient; fixed, for reproducible results

/// A convolution's sizes in three spatial dimensions; missing dimensions have size 1 and come
/// first.
struct Shape {
  int64_t images, groups, in_channels, out_channels;  // channels of one group
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];

  explicit Shape(const ConvParams& p)
      : images(p.in.sizes[0]),
        groups(p.groups),
        in_channels(p.weight.sizes[1]),
        out_channels(p.weight.sizes[0] / p.groups) {
    const int missing = 3 - p.spatial();
    for (int d = 0; d < 3; ++d) {
      const int from = d - missing;
      const bool exists = from >= 0;
      in[d] = exists ? p.in.sizes[from + 2] : 1;
      out[d] = exists ? p.out.sizes[from + 2] : 1;
      kernel[d] = exists ? p.weight.sizes[from + 2] : 1;
      stride[d] = exists ? p.stride[from] : 1;
      padding[d] = exists ? p.padding[from] : 0;
      dilation[d] = exists ? p.dilation[from] : 1;
    }
  }
  static int64_t product(const int64_t (&values)[3]) { return values[0] * values[1] * values[2]; }
  int64_t in_plane() const { return product(in); }
  int64_t out_plane() const { return product(out); }
  int64_t taps() const { return in_channels * product(kernel); }  // rows of the column matrix
  int64_t out_rows() const { return out[0] * out[1]; }
  /// Whether the image is its own column matrix.
  bool is_pointwise() const {
    bool pointwise = true;
    for (int d = 0; d < 3; ++d)
      pointwise &= kernel[d] == 1 && stride[d] == 1 && padding[d] == 0 && in[d] == out[d];
    return pointwise;
  }
  /// Along dimension d, tap k reads inside the input for the output positions [first, end).
  int64_t first(int d, int64_t k) const {
    const int64_t lowest = padding[d] - k * dilation[d];
    return lowest <= 0 ? 0 : std::min(out[d], (lowest + stride[d] - 1) / stride[d]);
  }
  int64_t end(int d, int64_t k) const {
    const int64_t highest = in[d] - 1 + padding[d] - k * dilation[d];
    return highest < 0 ? 0 : std::min(out[d], highest / stride[d] + 1);
  }
  /// The input position that tap k of output position i reads.
  int64_t position(int d, int64_t i, int64_t k) const {
    return i * stride[d] - padding[d] + k * dilation[d];
  }
};

template <class T>
class ColumnConv {
 public:
  ColumnConv(const ConvParams& params, Ctx& ctx)
      : p_(params), shape_(params), ctx_(ctx), pointwise_(shape_.is_pointwise()) {
    const int64_t row_bytes = shape_.taps() * shape_.out[2] * int64_t(sizeof(T));
    block_rows_ = std::clamp<int64_t>(kColumnsBytes / row_bytes, 1, shape_.out_rows());
    blocks_ = (shape_.out_rows() + block_rows_ - 1) / block_rows_;
  }

  void compute_out() const {
    run_tasks(shape_.images * shape_.groups * blocks_, [this](int64_t task, T* columns) {
      const Rows rows = rows_of(task % blocks_);
      const int64_t image = task / blocks_ / shape_.groups, group = task / blocks_ % shape_.groups;
      T* const out = out_at(image, group) + rows.begin * shape_.out[2];
      fill_bias(out, group * shape_.out_channels, shape_.out_channels, shape_.out_plane(),
                rows.positions);
      multiply({weight_at(group), shape_.taps(), false}, im2col(in_at(image, group), rows, columns),
               {shape_.out_channels, shape_.taps()}, rows.positions, out, shape_.out_plane());
    });
  }

  void compute_in() const {
    run_tasks(shape_.images * shape_.groups, [this](int64_t task, T* columns) {
      const int64_t image = task / shape_.groups, group = task % shape_.groups;
      T* const in = in_at(image, group);
      fill_bias(in, group * shape_.in_channels, shape_.in_channels, shape_.in_plane(),
                shape_.in_plane());
      for (int64_t b = 0; b < blocks_; ++b) {
        const Rows rows = rows_of(b);
        const GemmOperand weight{weight_at(group), shape_.taps(), true};
        const GemmOperand out{out_at(image, group) + rows.begin * shape_.out[2], shape_.out_plane(),
                              false};
        const Extent extent{shape_.taps(), shape_.out_channels};
        if (pointwise_) {
          multiply(weight, out, extent, rows.positions, in + rows.begin * shape_.out[2],
                   shape_.in_plane());
          continue;
        }
        multiply(weight, out, extent, rows.positions, columns, rows.positions, 0);
        for_each_run(rows,
                     [&](int64_t image_offset, int64_t column_offset, int64_t n, int64_t step) {
                       for (int64_t i = 0; i < n; ++i)
                         in[image_offset + i * step] += columns[column_offset + i];
                     });
      }
    });
  }

  void compute_weight() const {
    const int64_t size = shape_.out_channels * shape_.taps();
    const int64_t total_blocks = shape_.images * blocks_;
    const int64_t num_sums = std::min(total_blocks, kPartialSums);
    T* const partial = scratch(num_sums * size);
    T* const columns = scratch(pointwise_ ? 0 : num_sums * columns_size());
    for (int64_t group = 0; group < shape_.groups; ++group) {
      parallel_blocks(num_sums, [&](int64_t k) {
        T* const sum = partial + k * size;
        std::fill_n(sum, size, T(0));
        for (int64_t b = total_blocks * k / num_sums; b < total_blocks * (k + 1) / num_sums; ++b) {
          const Rows rows = rows_of(b % blocks_);
          const int64_t image = b / blocks_;
          GemmOperand windows =
              im2col(in_at(image, group), rows, columns + (pointwise_ ? 0 : k * columns_size()));
          windows.transposed = true;
          multiply({out_at(image, group) + rows.begin * shape_.out[2], shape_.out_plane(), false},
                   windows, {shape_.out_channels, rows.positions}, shape_.taps(), sum,
                   shape_.taps());
        }
      });
      T* const weight = weight_at(group);
      std::copy_n(partial, size, weight);
      for (int64_t k = 1; k < num_sums; ++k)
        for (int64_t i = 0; i < size; ++i) weight[i] += partial[k * size + i];
    }
  }

 private:
  /// A block of output rows [begin, end) with `positions` output positions.
  struct Rows {
    int64_t begin, end, positions;
  };
  /// A matrix product's number of rows m and inner dimension k.
  struct Extent {
    int64_t m, k;
  };

  Rows rows_of(int64_t block) const {
    const int64_t begin = block * block_rows_,
                  end = std::min(begin + block_rows_, shape_.out_rows());
    return {begin, end, (end - begin) * shape_.out[2]};
  }
  T* in_at(int64_t image, int64_t group) const {
    return p_.in.as<T>() + (image * shape_.groups + group) * shape_.in_channels * shape_.in_plane();
  }
  T* out_at(int64_t image, int64_t group) const {
    return p_.out.as<T>() +
           (image * shape_.groups + group) * shape_.out_channels * shape_.out_plane();
  }
  T* weight_at(int64_t group) const {
    return p_.weight.as<T>() + group * shape_.out_channels * shape_.taps();
  }
  int64_t columns_size() const { return shape_.taps() * block_rows_ * shape_.out[2]; }
  T* scratch(int64_t count) const {
    return static_cast<T*>(ctx_.scratch(size_t(count) * sizeof(T)));
  }

  /// Calls f(task, columns) for each task, in parallel; each slot has its own scratch memory for
  /// columns.
  template <class F>
  void run_tasks(int64_t tasks, const F& f) const {
    const int slots = task_slots(tasks);
    const int64_t size = pointwise_ ? 0 : columns_size();
    T* const columns = scratch(slots * size);
    parallel_tasks(tasks, slots, [&](int64_t task, int slot) { f(task, columns + slot * size); });
  }

  void fill_bias(T* to, int64_t first, int64_t channels, int64_t plane, int64_t count) const {
    for (int64_t c = 0; c < channels; ++c) {
      const T value = p_.bias.defined() ? p_.bias.as<T>()[(first + c) * p_.bias.strides[0]] : T(0);
      std::fill_n(to + c * plane, count, value);
    }
  }

  /// out = beta * out + a @ b.
  void multiply(const GemmOperand& a, const GemmOperand& b, Extent extent, int64_t n, T* out,
                int64_t ld, double beta = 1) const {
    blas::multiply({dtype_of<T>, extent.m, n, extent.k, a, b, 1, beta, out, ld});
  }

  /// Calls f(offset in the image, offset in the column matrix, count, image step) for every run of
  /// a block's column matrix that lies inside the input.
  template <class F>
  void for_each_run(Rows rows, const F& f) const {
    int64_t tap = 0;
    for (int64_t c = 0; c < shape_.in_channels; ++c)
      for (int64_t kd = 0; kd < shape_.kernel[0]; ++kd)
        for (int64_t kh = 0; kh < shape_.kernel[1]; ++kh)
          for (int64_t kw = 0; kw < shape_.kernel[2]; ++kw, ++tap) {
            const int64_t first = shape_.first(2, kw), end = shape_.end(2, kw);
            if (first >= end) continue;
            for (int64_t r = rows.begin; r < rows.end; ++r) {
              const int64_t d = shape_.position(0, r / shape_.out[1], kd);
              const int64_t h = shape_.position(1, r % shape_.out[1], kh);
              if (d < 0 || d >= shape_.in[0] || h < 0 || h >= shape_.in[1]) continue;
              const int64_t column_offset = tap * rows.positions + (r - rows.begin) * shape_.out[2];
              f(((c * shape_.in[0] + d) * shape_.in[1] + h) * shape_.in[2] +
                    shape_.position(2, first, kw),
                column_offset + first, end - first, shape_.stride[2]);
            }
          }
  }

  /// Returns the column matrix `[taps, positions]` of a block: the windows that its positions read.
  GemmOperand im2col(const T* image, Rows rows, T* columns) const {
    if (pointwise_) return {image + rows.begin * shape_.out[2], shape_.in_plane(), false};
    std::fill_n(columns, shape_.taps() * rows.positions, T(0));
    for_each_run(rows, [&](int64_t image_offset, int64_t column_offset, int64_t n, int64_t step) {
      if (step == 1)
        std::memcpy(columns + column_offset, image + image_offset, size_t(n) * sizeof(T));
      else
        for (int64_t i = 0; i < n; ++i) columns[column_offset + i] = image[image_offset + i * step];
    });
    return {columns, rows.positions, false};
  }

  const ConvParams& p_;
  const Shape shape_;
  Ctx& ctx_;
  const bool pointwise_;
  int64_t block_rows_, blocks_;
};

template <class T>
void run_in(const ConvParams& params, Ctx& ctx) {
  const ColumnConv<T> conv(params, ctx);
  switch (params.part) {
    case ConvPart::kOut: return conv.compute_out();
    case ConvPart::kIn: return conv.compute_in();
    case ConvPart::kWeight: return conv.compute_weight();
  }
}

}  // namespace

void conv_by_columns(const ConvParams& params, Ctx& ctx) {
  params.in.dtype == kDouble ? run_in<double>(params, ctx) : run_in<float>(params, ctx);
}

}  // namespace hearth::cpu
