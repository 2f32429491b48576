// Samples images or volumes, [batch, channels, ...], at the positions of a grid, and computes both
// gradients. The threads divide the positions, for linear and nearest sampling of float or double
// images in tiles of 64; the gradient of the input is divided by samples and channels, so that no
// two tasks write to one element. Bound by random access: 1 to 64 elements of the input for each
// output.
#include "seam/grid_sampler.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "hearth/half.h"
#include "kernels/cpu/grid_sampler_kernels.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int kMaxTaps = 64;                 // cubic in three dimensions
constexpr int64_t kGridSamplerGrain = 8192;  // products that are worth another thread
constexpr int64_t kCostOfTaps = 8;           // of finding a position's taps, in products

template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// One sample of a batch: its image or volume, with sizes and strides in the order x, y, z.
struct Volume {
  int dims;
  int64_t channels, channel_stride, batch_stride;
  int64_t sizes[3], strides[3];

  Volume(const View& view, int dims_)
      : dims(dims_),
        channels(view.sizes[1]),
        channel_stride(view.strides[1]),
        batch_stride(view.strides[0]) {
    for (int d = 0; d < dims; ++d) {
      sizes[d] = view.sizes[1 + dims - d];
      strides[d] = view.strides[1 + dims - d];
    }
  }
  int64_t positions() const {
    int64_t product = 1;
    for (int d = 0; d < dims; ++d) product *= sizes[d];
    return product;
  }
  /// The offset of position p, counted in row-major order.
  int64_t offset(int64_t p) const {
    int64_t result = 0;
    for (int d = 0; d < dims; ++d) {
      result += p % sizes[d] * strides[d];
      p /= sizes[d];
    }
    return result;
  }
};

/// The taps of one position, multiplied out over the dimensions: offsets in the input, weights, and
/// the weights' derivatives (slopes). Elements outside the input are left out.
template <class R>
struct PointTaps {
  int count = 0;
  R nan_term = 0;  // NaN if a NaN coordinate makes PyTorch's sum NaN, else 0
  int64_t offset[kMaxTaps];
  R weight[kMaxTaps];
  R slope[3][kMaxTaps];
};

template <class T>
class GridReader {
 public:
  using R = Real<T>;
  GridReader(const View& grid, const View& in, const GridRule& rule, int dims)
      : grid_(grid), rule_(rule), dims_(dims), in_(in, dims) {}

  const Volume& in() const { return in_; }
  int64_t positions() const {
    int64_t product = 1;
    for (int d = 1; d <= dims_; ++d) product *= grid_.sizes[d];
    return product;
  }
  /// The offset of position p of sample n in a tensor shaped like the grid.
  int64_t offset(const View& grid, int64_t n, int64_t p) const {
    int64_t result = n * grid.strides[0];
    for (int d = dims_; d >= 1; --d) {
      result += p % grid.sizes[d] * grid.strides[d];
      p /= grid.sizes[d];
    }
    return result;
  }
  /// Finds the taps of position p of sample n.
  void find(int64_t n, int64_t p, PointTaps<R>& taps) const {
    const T* const point = grid_.as<const T>() + offset(grid_, n, p);
    GridTaps<R> axes[3];
    taps.nan_term = 0;
    for (int d = 0; d < dims_; ++d) {
      axes[d] = rule_.find(R(point[d * grid_.strides[dims_ + 1]]), in_.sizes[d]);
      if (dims_ == 2 || rule_.mode == GridMode::kCubic) taps.nan_term += axes[d].weight[0] * 0;
    }
    combine(axes, taps);
  }

 private:
  /// Multiplies out the taps of the dimensions.
  void combine(const GridTaps<R>* axes, PointTaps<R>& taps) const {
    const int n = rule_.taps(), depth = dims_ == 3 ? n : 1;
    int& count = taps.count = 0;
    for (int k = 0; k < depth; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          const int tap[3] = {i, j, k};
          bool inside = true;
          taps.offset[count] = 0;
          for (int d = 0; d < dims_; ++d) {
            inside = inside && axes[d].index[tap[d]] >= 0;
            taps.offset[count] += axes[d].index[tap[d]] * in_.strides[d];
          }
          if (inside) multiply(axes, tap, taps, count++);
        }
  }
  /// Sets the weight and the slopes of entry t to the products of one tap of each dimension.
  void multiply(const GridTaps<R>* axes, const int* tap, PointTaps<R>& taps, int t) const {
    taps.weight[t] = 1;
    for (int d = 0; d < dims_; ++d) {
      taps.weight[t] *= axes[d].weight[tap[d]];
      taps.slope[d][t] = axes[d].slope[tap[d]];
      for (int other = 0; other < dims_; ++other)
        if (other != d) taps.slope[d][t] *= axes[other].weight[tap[other]];
    }
  }

  const View grid_;
  const GridRule rule_;
  const int dims_;
  const Volume in_;
};

template <class T>
void sample(const GridSamplerParams& p) {
  using R = Real<T>;
  const GridReader<T> reader(p.grid, p.in, p.rule, p.dims);
  const Volume out(p.out, p.dims);
  const int64_t positions = reader.positions(), channels = out.channels;
  parallel_for(0, p.out.sizes[0] * positions, kGridSamplerGrain / (channels + kCostOfTaps) + 1,
               [&](int64_t begin, int64_t end) {
                 PointTaps<R> taps;
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t n = i / positions, position = i % positions;
                   reader.find(n, position, taps);
                   const T* in = p.in.as<const T>() + n * reader.in().batch_stride;
                   T* to = p.out.as<T>() + n * out.batch_stride + out.offset(position);
                   for (int64_t c = 0; c < channels; ++c) {
                     R sum = taps.nan_term;
                     for (int t = 0; t < taps.count; ++t)
                       sum += taps.weight[t] * R(in[taps.offset[t]]);
                     *to = T(sum);
                     in += reader.in().channel_stride;
                     to += out.channel_stride;
                   }
                 }
               });
}

/// Linear and nearest sampling of images; the taps of a tile of positions are found at once.
template <class T>
class ImageSampler {
 public:
  ImageSampler(const GridSamplerParams& params, const GridLoops& loops)
      : p_(params), loops_(loops), in_(params.in, 2), out_(params.out, 2) {}

  /// Whether this class can run the call: images, not cubic, with 32-bit offsets in a plane.
  static bool supports(const GridSamplerParams& p) {
    const View& in = p.in;
    return p.dims == 2 && p.rule.mode != GridMode::kCubic &&
           (in.sizes[2] - 1) * in.strides[2] + (in.sizes[3] - 1) * in.strides[3] <= INT32_MAX;
  }

  void run() const {
    const int64_t rows = p_.out.sizes[2], width = p_.out.sizes[3];
    const int64_t row_cost = width * (in_.channels + kCostOfTaps);
    parallel_for(0, p_.out.sizes[0] * rows, kGridSamplerGrain / row_cost + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r)
                     for (int64_t j = 0; j < width; j += kGridTile)
                       run_tile(r / rows, r % rows, j, std::min(kGridTile, width - j));
                 });
  }

 private:
  void run_tile(int64_t n, int64_t row, int64_t first, int64_t count) const {
    alignas(64) T x[kGridTile] = {}, y[kGridTile] = {}, sums[kGridTile];
    GridTile<T> tile;
    const int64_t* const strides = p_.grid.strides;
    const T* from = p_.grid.as<const T>() + n * strides[0] + row * strides[1] + first * strides[2];
    for (int64_t i = 0; i < count; ++i, from += strides[2]) {
      x[i] = from[0];
      y[i] = from[strides[3]];
    }
    const GridPlane plane{in_.sizes[0], in_.sizes[1], in_.strides[0], in_.strides[1]};
    loops_.find(x, y, count, p_.rule, plane, &tile);
    const int taps = p_.rule.mode == GridMode::kNearest ? 1 : 4;
    const T* values = p_.in.as<const T>() + n * in_.batch_stride;
    T* to =
        p_.out.as<T>() + n * out_.batch_stride + row * out_.strides[1] + first * out_.strides[0];
    for (int64_t c = 0; c < out_.channels; ++c) {
      const bool direct = out_.strides[0] == 1;
      loops_.sample(values, &tile, taps, direct ? to : sums, count);
      for (int64_t i = 0; !direct && i < count; ++i) to[i * out_.strides[0]] = sums[i];
      values += in_.channel_stride;
      to += out_.channel_stride;
    }
  }

  const GridSamplerParams& p_;
  const GridLoops& loops_;
  const Volume in_, out_;
};

/// Computes the gradient of the input. A task adds up all positions for some channels of one
/// sample, so that no two tasks write to one element.
template <class T>
void scatter(const GridSamplerBackwardParams& p, const View& sums) {
  using R = Real<T>;
  const GridReader<T> reader(p.grid, sums, p.rule, p.dims);
  const Volume grad(p.grad_out, p.dims), &in = reader.in();
  const int64_t positions = reader.positions(), samples = sums.sizes[0];
  const int64_t blocks = std::clamp<int64_t>(4 * get_num_threads() / samples, 1, in.channels);
  parallel_blocks(samples * blocks, [&](int64_t task) {
    const int64_t n = task / blocks, block = task % blocks;
    const int64_t first = block * in.channels / blocks, end = (block + 1) * in.channels / blocks;
    R* const to = sums.as<R>() + n * in.batch_stride;
    std::fill(to + first * in.channel_stride, to + end * in.channel_stride, R(0));
    PointTaps<R> taps;
    for (int64_t position = 0; position < positions; ++position) {
      reader.find(n, position, taps);
      const T* const from =
          p.grad_out.as<const T>() + n * grad.batch_stride + grad.offset(position);
      for (int64_t c = first; c < end; ++c) {
        const R g = R(from[c * grad.channel_stride]);
        for (int t = 0; t < taps.count; ++t)
          to[c * in.channel_stride + taps.offset[t]] += taps.weight[t] * g;
      }
    }
  });
}

/// Computes the gradient of the grid.
template <class T>
void differentiate(const GridSamplerBackwardParams& p) {
  using R = Real<T>;
  const GridReader<T> reader(p.grid, p.in, p.rule, p.dims);
  const Volume grad(p.grad_out, p.dims), &in = reader.in();
  const int64_t positions = reader.positions(), channels = in.channels;
  const auto point = [&](int64_t n, int64_t position, PointTaps<R>& taps) {
    reader.find(n, position, taps);
    const T* const g = p.grad_out.as<const T>() + n * grad.batch_stride + grad.offset(position);
    const T* const values = p.in.as<const T>() + n * in.batch_stride;
    R sums[3] = {taps.nan_term, taps.nan_term, taps.nan_term};
    for (int t = 0; t < taps.count && p.rule.mode != GridMode::kNearest; ++t) {
      R dot = 0;
      for (int64_t c = 0; c < channels; ++c)
        dot += R(g[c * grad.channel_stride]) * R(values[c * in.channel_stride + taps.offset[t]]);
      for (int d = 0; d < p.dims; ++d) sums[d] += dot * taps.slope[d][t];
    }
    T* const to = p.grad_grid.as<T>() + reader.offset(p.grad_grid, n, position);
    for (int d = 0; d < p.dims; ++d) to[d * p.grad_grid.strides[p.dims + 1]] = T(sums[d]);
  };
  parallel_for(0, p.grad_out.sizes[0] * positions, kGridSamplerGrain / (channels + kCostOfTaps) + 1,
               [&](int64_t begin, int64_t end) {
                 PointTaps<R> taps;
                 for (int64_t i = begin; i < end; ++i) point(i / positions, i % positions, taps);
               });
}

/// Allocates contiguous scratch memory for a view's elements in double or float.
View float_scratch_like(const View& view, Ctx& ctx) {
  View result = view;
  result.dtype = view.dtype == kDouble ? kDouble : kFloat;
  result.make_contiguous();
  result.data = ctx.scratch(size_t(view.numel) * element_size(result.dtype));
  return result;
}

}  // namespace

void run(const GridSamplerParams& params, Ctx&) {
  if (params.out.numel == 0) return;
  const GridLoopTable& table = HEARTH_ISA_TABLE(grid_sampler_table);
  if (params.in.dtype == kFloat && ImageSampler<float>::supports(params))
    return ImageSampler<float>(params, table.f32).run();
  if (params.in.dtype == kDouble && ImageSampler<double>::supports(params))
    return ImageSampler<double>(params, table.f64).run();
  with_floating(params.in.dtype, [&]<class T>(T) { sample<T>(params); });
}

void run(const GridSamplerBackwardParams& params, Ctx& ctx) {
  if (params.grad_in.defined() && params.grad_in.numel > 0) {
    const View& grad_in = params.grad_in;
    const bool direct = grad_in.contiguous() && !is_reduced_float(grad_in.dtype);
    const View sums = direct ? grad_in : float_scratch_like(grad_in, ctx);
    with_floating(grad_in.dtype, [&]<class T>(T) { scatter<T>(params, sums); });
    if (!direct) copy(sums, grad_in, ctx);
  }
  if (params.grad_grid.defined() && params.grad_grid.numel > 0)
    with_floating(params.in.dtype, [&]<class T>(T) { differentiate<T>(params); });
}

}  // namespace hearth::cpu
