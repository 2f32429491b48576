#include "seam/upsample.h"

#include <algorithm>
#include <cmath>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/cpu/upsample_pass.h"

namespace hearth::cpu {

namespace {

constexpr int kDepth = 2, kHeight = 3;  // dimensions of [batch, channels, depth, height, width]

View as_5d(const View& view) {
  View result = view;
  result.dim = 5;
  const int added = 5 - view.dim;
  for (int d = 2; d < 5; ++d) {
    const bool given = d - added >= 2;
    result.sizes[d] = given ? view.sizes[d - added] : 1;
    result.strides[d] = given ? view.strides[d - added] : 0;
  }
  return result;
}

bool has_channels_inside(const View& out) {
  return out.sizes[1] > 1 && out.strides[1] == 1 && !out.contiguous();
}

/// A scratch volume with out's batch and channels, in its layout.
View scratch_volume(const View& out, const int64_t* sizes, ScalarType dtype, bool channels_inside,
                    Ctx& ctx) {
  static constexpr int kOrders[][5] = {{0, 1, 2, 3, 4}, {0, 2, 3, 4, 1}};
  View result = out;
  result.dtype = dtype;
  std::copy_n(sizes, 3, result.sizes + kDepth);
  result.numel = 1;
  for (int i = 4; i >= 0; --i) {
    const int d = kOrders[channels_inside][i];
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
  /// Rounds to bytes: see UpsampleStep.
  void set_units(double rows, double columns) {
    row_unit_ = rows;
    column_unit_ = columns;
  }

  void run(Ctx& ctx) const {
    const bool inside = has_channels_inside(out_);
    if (dims_ < 3) return images(in_, out_, inside, ctx);
    const bool depth_first = out_.sizes[kDepth] < in_.sizes[kDepth];
    const View& ends = depth_first ? in_ : out_;  // the height and width between the passes
    const int64_t sizes[] = {depth_first ? out_.sizes[kDepth] : in_.sizes[kDepth],
                             ends.sizes[kHeight], ends.sizes[kHeight + 1]};
    const View between = scratch_volume(out_, sizes, dtype_of<T>, inside, ctx);
    if (depth_first) {
      depth(in_, between, inside, ctx);
      images(between, out_, inside, ctx);
    } else {
      images(in_, between, inside, ctx);
      depth(between, out_, inside, ctx);
    }
  }

 private:
  void images(const View& in, const View& out, bool inside, Ctx& ctx) const {
    UpsampleStep<T> rows, columns{&tables_[dims_ - 1], column_unit_};
    if (dims_ > 1) rows = {&tables_[dims_ - 2], row_unit_};
    UpsamplePass<T>({in, kHeight, inside}, {out, kHeight, inside}, rows, columns).run(ctx);
  }
  void depth(const View& in, const View& out, bool inside, Ctx& ctx) const {
    UpsamplePass<T>({in, kDepth, inside}, {out, kDepth, inside}, {&tables_[0]}, {}).run(ctx);
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

/// Bytes: every number is a whole one below 2^24 or, in double, 2^53, so that nothing is rounded
/// but the results of the two steps.
template <class T>
void interpolate_bytes(const UpsampleParams& params, UpsampleTable<double> (&tables)[2],
                       const int (&bits)[2], Ctx& ctx) {
  Interpolation<T> work(params);
  for (int d = 0; d < 2; ++d) work.table(d) = converted<T>(tables[d]);
  work.set_units(std::ldexp(1.0, -bits[0]), std::ldexp(1.0, -bits[1]));
  work.run(ctx);
}

void interpolate_bytes(const UpsampleParams& params, Ctx& ctx) {
  constexpr int kFloatBits = 15;
  UpsampleTable<double> tables[2];
  int bits[2];
  for (int d = 0; d < 2; ++d) {
    tables[d] = upsample_table<double>(params.axes[d]);
    bits[d] = quantise(tables[d]);
  }
  std::max(bits[0], bits[1]) <= kFloatBits ? interpolate_bytes<float>(params, tables, bits, ctx)
                                           : interpolate_bytes<double>(params, tables, bits, ctx);
}

/// Positions of the elements that a row's outputs copy, from the row's first element.
std::vector<int64_t> offsets_of(const std::vector<int64_t>& index, const UpsampleImages& in) {
  std::vector<int64_t> offsets;
  for (const int64_t column : index)
    for (int64_t c = 0; c < in.inner; ++c)
      offsets.push_back(column * in.column_stride + c * in.inner_stride);
  return offsets;
}

/// Nearest neighbours: copies elements, and whole rows where rows repeat.
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
    std::vector<int64_t> positions(size_t(out_.columns));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = int64_t(i);
    out_offsets_ = offsets_of(positions, out_);
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
          move(from, to);
        last_from = from;
        last_to = to;
      }
    });
  }

 private:
  const T* source(int64_t image, int64_t row) const {
    const int64_t depth = out_.outer_sizes[2], at = image % depth;
    const int64_t in_image = image / depth * in_.outer_sizes[2] + index_[0][size_t(at)];
    return reinterpret_cast<const T*>(in_.row(in_image, index_[1][size_t(row)]));
  }
  void move(const T* from, T* to) const {
    const int64_t *const in = in_offsets_.data(), width = out_.width(), inner = out_.inner;
    if (!out_offsets_.empty()) {
      for (int64_t i = 0; i < width; ++i) to[out_offsets_[size_t(i)]] = from[in[i]];
    } else if (inner * int64_t(sizeof(T)) >= 16 && in_.inner_stride == 1) {
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
