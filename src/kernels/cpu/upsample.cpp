// Upsampling of images and volumes, [batch, channels, depth, height, width], and its gradients.
// Nearest elements are copied here: the threads divide the output's rows, and a row that repeats is
// copied from the one before; bound by memory. Other modes and all gradients run in passes of
// upsample_pass.cpp, volumes in two.
#include "seam/upsample.h"

#include <algorithm>
#include <cmath>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/cpu/upsample_pass.h"

namespace hearth::cpu {

namespace {

constexpr int kDepth = 2, kHeight = 3;  // dimensions of [batch, channels, depth, height, width]
constexpr int64_t kMinCopyBytes = 16;   // shorter pixels are copied element by element

View as_5d(const View& view) {
  View result = view;
  result.dim = 5;
  const int added = 5 - view.dim;
  for (int d = 2; d < 5; ++d) {
    const bool exists = d - added >= 2;
    result.sizes[d] = exists ? view.sizes[d - added] : 1;
    result.strides[d] = exists ? view.strides[d - added] : 0;
  }
  return result;
}

bool has_channels_inside(const View& out) {
  return out.sizes[1] > 1 && out.strides[1] == 1 && !out.contiguous();
}

/// Allocates a scratch volume with out's batch and channels and the given depth, height and width.
View scratch_volume(const View& out, const int64_t* sizes, ScalarType dtype, bool channels_inside,
                    Ctx& ctx) {
  static constexpr int kDimOrders[][5] = {{0, 1, 2, 3, 4}, {0, 2, 3, 4, 1}};
  View result = out;
  result.dtype = dtype;
  std::copy_n(sizes, 3, result.sizes + kDepth);
  result.numel = 1;
  for (int i = 4; i >= 0; --i) {
    const int d = kDimOrders[channels_inside][i];
    result.strides[d] = result.numel;
    result.numel *= result.sizes[d];
  }
  result.data = ctx.scratch(size_t(result.numel) * element_size(dtype));
  return result;
}

/// The passes of linear and cubic interpolation, and of every gradient.
template <class T>
class Interpolation {
 public:
  explicit Interpolation(const UpsampleParams& params)
      : dims_(params.dims), in_(as_5d(params.in)), out_(as_5d(params.out)) {
    for (int d = 0; d < dims_; ++d) {
      tables_[d] = upsample_table<T>(params.axes[d]);
      if (params.transposed) tables_[d] = transposed(tables_[d]);
    }
  }
  UpsampleTable<T>& table(int d) { return tables_[d]; }
  /// Makes both steps round to bytes: see UpsampleStep.
  void set_units(double rows, double columns) {
    row_unit_ = rows;
    column_unit_ = columns;
  }

  void run(Ctx& ctx) const {
    const bool channels_inside = has_channels_inside(out_);
    if (dims_ < 3) return run_images(in_, out_, channels_inside, ctx);
    const bool depth_first = out_.sizes[kDepth] < in_.sizes[kDepth];
    const View& images = depth_first ? in_ : out_;  // has the intermediate height and width
    const int64_t sizes[] = {depth_first ? out_.sizes[kDepth] : in_.sizes[kDepth],
                             images.sizes[kHeight], images.sizes[kHeight + 1]};
    const View intermediate = scratch_volume(out_, sizes, dtype_of<T>, channels_inside, ctx);
    if (depth_first) {
      run_depth(in_, intermediate, channels_inside, ctx);
      run_images(intermediate, out_, channels_inside, ctx);
    } else {
      run_images(in_, intermediate, channels_inside, ctx);
      run_depth(intermediate, out_, channels_inside, ctx);
    }
  }

 private:
  void run_images(const View& in, const View& out, bool channels_inside, Ctx& ctx) const {
    UpsampleStep<T> rows, columns{&tables_[dims_ - 1], column_unit_};
    if (dims_ > 1) rows = {&tables_[dims_ - 2], row_unit_};
    UpsamplePass<T>({in, kHeight, channels_inside}, {out, kHeight, channels_inside}, rows, columns)
        .run(ctx);
  }
  void run_depth(const View& in, const View& out, bool channels_inside, Ctx& ctx) const {
    UpsamplePass<T>({in, kDepth, channels_inside}, {out, kDepth, channels_inside}, {&tables_[0]},
                    {})
        .run(ctx);
  }

  const int dims_;
  const View in_, out_;
  UpsampleTable<T> tables_[3];
  double row_unit_ = 0, column_unit_ = 0;
};

template <class T>
UpsampleTable<T> converted(const UpsampleTable<double>& table) {
  return {table.in, table.start, table.index, {table.weight.begin(), table.weight.end()}};
}

/// Interpolates bytes. Every intermediate number is an integer below 2^24 or, in double, 2^53, so
/// that nothing is rounded but the results of the two steps.
template <class T>
void interpolate_bytes(const UpsampleParams& params, UpsampleTable<double> (&tables)[2],
                       const int (&bits)[2], Ctx& ctx) {
  Interpolation<T> interpolation(params);
  for (int d = 0; d < 2; ++d) interpolation.table(d) = converted<T>(tables[d]);
  interpolation.set_units(std::ldexp(1.0, -bits[0]), std::ldexp(1.0, -bits[1]));
  interpolation.run(ctx);
}

void interpolate_bytes(const UpsampleParams& params, Ctx& ctx) {
  constexpr int kFloatBits = 15;  // bits after the point up to which float holds the sums exactly
  UpsampleTable<double> tables[2];
  int bits[2];
  for (int d = 0; d < 2; ++d) {
    tables[d] = upsample_table<double>(params.axes[d]);
    bits[d] = quantise(tables[d]);
  }
  std::max(bits[0], bits[1]) <= kFloatBits ? interpolate_bytes<float>(params, tables, bits, ctx)
                                           : interpolate_bytes<double>(params, tables, bits, ctx);
}

/// Returns the offsets, from a row's first element, of the elements of the given columns.
std::vector<int64_t> offsets_of(const std::vector<int64_t>& columns, const UpsampleImages& images) {
  std::vector<int64_t> offsets;
  for (const int64_t column : columns)
    for (int64_t c = 0; c < images.inner; ++c)
      offsets.push_back(column * images.column_stride + c * images.inner_stride);
  return offsets;
}

/// Nearest-neighbour upsampling: copies elements, and whole rows where rows repeat.
template <class T>
class Nearest {
 public:
  explicit Nearest(const UpsampleParams& params)
      : in_view_(as_5d(params.in)),
        out_view_(as_5d(params.out)),
        in_(in_view_, kHeight, has_channels_inside(out_view_)),
        out_(out_view_, kHeight, has_channels_inside(out_view_)) {
    for (int d = 0; d < 3; ++d) {
      const int axis = d - 3 + params.dims;
      index_[d] =
          axis < 0 ? std::vector<int64_t>{0} : upsample_table<float>(params.axes[axis]).index;
    }
    in_offsets_ = offsets_of(index_[2], in_);
    if (out_.dense_rows()) return;
    std::vector<int64_t> all_columns(size_t(out_.columns));
    for (size_t i = 0; i < all_columns.size(); ++i) all_columns[i] = int64_t(i);
    out_offsets_ = offsets_of(all_columns, out_);
  }

  void run() const {
    const int64_t rows = out_.outer() * out_.rows;
    parallel_for(0, rows, kMoveGrain / out_.width() + 1, [this](int64_t begin, int64_t end) {
      const T *last_from = nullptr, *last_to = nullptr;
      for (int64_t r = begin; r < end; ++r) {
        const int64_t image = r / out_.rows;
        T* const to = reinterpret_cast<T*>(out_.row(image, r % out_.rows));
        const T* const from = source(image, r % out_.rows);
        if (from == last_from && out_offsets_.empty())
          std::copy_n(last_to, out_.width(), to);
        else
          copy_row(from, to);
        last_from = from;
        last_to = to;
      }
    });
  }

 private:
  const T* source(int64_t image, int64_t row) const {
    const int64_t depth = out_.outer_sizes[2], d = image % depth;
    const int64_t in_image = image / depth * in_.outer_sizes[2] + index_[0][size_t(d)];
    return reinterpret_cast<const T*>(in_.row(in_image, index_[1][size_t(row)]));
  }
  void copy_row(const T* from, T* to) const {
    const int64_t *const in = in_offsets_.data(), width = out_.width(), inner = out_.inner;
    if (!out_offsets_.empty()) {
      for (int64_t i = 0; i < width; ++i) to[out_offsets_[size_t(i)]] = from[in[i]];
    } else if (inner * int64_t(sizeof(T)) >= kMinCopyBytes && in_.inner_stride == 1) {
      for (int64_t i = 0; i < width; i += inner) std::copy_n(from + in[i], inner, to + i);
    } else {
      for (int64_t i = 0; i < width; ++i) to[i] = from[in[i]];
    }
  }

  const View in_view_, out_view_;
  const UpsampleImages in_, out_;
  std::vector<int64_t> index_[3], in_offsets_, out_offsets_;
};

}  // namespace

void run(const UpsampleParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  if (is_nearest(params.axes[0].mode) && !params.transposed)
    return with_element_type(element_size(params.in.dtype),
                             [&]<class T>(T) { Nearest<T>(params).run(); });
  if (params.out.dtype == kByte) return interpolate_bytes(params, ctx);
  if (params.out.dtype == kDouble)
    Interpolation<double>(params).run(ctx);
  else
    Interpolation<float>(params).run(ctx);
}

}  // namespace hearth::cpu
