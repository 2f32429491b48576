// Values of images and volumes at the positions of a grid, and the gradients. Each thread has one
// position at a time, for all channels, so that it finds the taps (the elements to read) once.
// Bound by the loads of the taps at scattered addresses, for each channel 1 (nearest), 4 or 8
// (linear) or 16 (cubic), and in the gradient of the input by as many atomic additions.
#include "seam/grid_sampler.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// A view of [N, C, (D,) H, W]: sizes and strides in the order x, y, z; a missing depth is 1.
template <class T>
struct SampledVolume {
  T* data;
  int64_t batch_stride, channel_stride, channels;
  int64_t sizes[3] = {1, 1, 1}, strides[3] = {0, 0, 0};

  SampledVolume(const View& view, int dims) : data(view.as<T>()) {
    batch_stride = view.strides[0];
    channel_stride = view.strides[1];
    channels = view.sizes[1];
    for (int d = 0; d < dims; ++d) {
      sizes[d] = view.sizes[1 + dims - d];
      strides[d] = view.strides[1 + dims - d];
    }
  }
};

/// A grid as a volume of vectors.
template <class T>
struct Grid {
  T* data;
  int64_t batch_stride, component_stride;
  int64_t strides[3] = {0, 0, 0};

  Grid(const View& view, int dims) : data(view.as<T>()) {
    batch_stride = view.strides[0];
    component_stride = view.strides[dims + 1];
    for (int d = 0; d < dims; ++d) strides[d] = view.strides[dims - d];
  }
  __device__ __forceinline__ T* at(int64_t n, const int64_t (&p)[3]) const {
    return data + n * batch_stride + p[0] * strides[0] + p[1] * strides[1] + p[2] * strides[2];
  }
};

/// The positions of an output, over all samples.
struct GridPositions {
  int64_t numel = 1;
  FastDivisor sizes[3];

  GridPositions(const View& out, int dims) {
    numel = out.sizes[0];
    for (int d = 0; d < dims; ++d) {
      sizes[d] = FastDivisor(out.sizes[1 + dims - d]);
      numel *= out.sizes[1 + dims - d];
    }
  }
};

/// Calls work(sample, position) for every position.
template <class F>
__device__ __forceinline__ void for_each_position(const GridPositions& positions, F work) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < positions.numel; e += step) {
    int64_t position[3], n = e;
    for (int d = 0; d < 3; ++d) n = positions.sizes[d].divide(n, position[d]);
    work(n, position);
  }
}

/// The taps of one position in every dimension.
template <class R>
struct Point {
  GridTaps<R> axes[3];
  int taps, depth_taps;
  R nan_term;  // NaN if a NaN coordinate makes PyTorch's sum NaN, else 0

  template <class T>
  __device__ Point(const Grid<const T>& grid, const GridRule& rule, int dims, int64_t n,
                   const int64_t (&position)[3], const int64_t (&sizes)[3])
      : taps(rule.taps()), depth_taps(dims == 3 ? rule.taps() : 1), nan_term(0) {
    const T* coordinates = grid.at(n, position);
    for (int d = 0; d < dims; ++d) {
      axes[d] = rule.find(R(to_register(coordinates[d * grid.component_stride])), sizes[d]);
      if (dims == 2 || rule.mode == GridMode::kCubic) nan_term += axes[d].weight[0] * 0;
    }
    if (dims == 3) return;
    axes[2].index[0] = 0;
    axes[2].weight[0] = 1;
    axes[2].slope[0] = 0;
  }

  /// Calls work(offset, i, j, k) for the taps inside the input.
  template <class F>
  __device__ __forceinline__ void for_each(const int64_t (&strides)[3], F work) const {
    for (int k = 0; k < depth_taps; ++k)
      for (int j = 0; j < taps; ++j)
        for (int i = 0; i < taps; ++i) {
          const int64_t x = axes[0].index[i], y = axes[1].index[j], z = axes[2].index[k];
          if (x < 0 || y < 0 || z < 0) continue;
          work(x * strides[0] + y * strides[1] + z * strides[2], i, j, k);
        }
  }
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    sample(SampledVolume<const T> in, Grid<const T> grid, SampledVolume<T> out, GridRule rule,
           int dims, GridPositions positions) {
  using R = Real<T>;
  for_each_position(positions, [&](int64_t n, const int64_t(&position)[3]) {
    const Point<R> point(grid, rule, dims, n, position, in.sizes);
    T* to = out.data + n * out.batch_stride + position[0] * out.strides[0] +
            position[1] * out.strides[1] + position[2] * out.strides[2];
    for (int64_t c = 0; c < in.channels; ++c) {
      const T* from = in.data + n * in.batch_stride + c * in.channel_stride;
      R sum = point.nan_term;
      point.for_each(in.strides, [&](int64_t offset, int i, int j, int k) {
        sum += point.axes[0].weight[i] * point.axes[1].weight[j] * point.axes[2].weight[k] *
               R(to_register(from[offset]));
      });
      to[c * out.channel_stride] = to_element<T>(sum);
    }
  });
}

/// Adds to an element in no fixed order, as PyTorch does.
template <class R>
__device__ __forceinline__ void add(R* to, R value) {
  atomicAdd(to, value);
}

/// Adds up the gradient of the input, in float for half types.
template <class T>
__global__ void __launch_bounds__(kBlock)
    scatter(SampledVolume<const T> grad, Grid<const T> grid, SampledVolume<Real<T>> sums,
            GridRule rule, int dims, GridPositions positions) {
  using R = Real<T>;
  for_each_position(positions, [&](int64_t n, const int64_t(&position)[3]) {
    const Point<R> point(grid, rule, dims, n, position, sums.sizes);
    const T* from = grad.data + n * grad.batch_stride + position[0] * grad.strides[0] +
                    position[1] * grad.strides[1] + position[2] * grad.strides[2];
    for (int64_t c = 0; c < sums.channels; ++c) {
      const R g = R(to_register(from[c * grad.channel_stride]));
      R* to = sums.data + n * sums.batch_stride + c * sums.channel_stride;
      point.for_each(sums.strides, [&](int64_t offset, int i, int j, int k) {
        add(to + offset,
            point.axes[0].weight[i] * point.axes[1].weight[j] * point.axes[2].weight[k] * g);
      });
    }
  });
}

/// Computes the gradient of the grid.
template <class T>
__global__ void __launch_bounds__(kBlock)
    differentiate(SampledVolume<const T> grad, SampledVolume<const T> in, Grid<const T> grid,
                  Grid<T> grad_grid, GridRule rule, int dims, GridPositions positions) {
  using R = Real<T>;
  for_each_position(positions, [&](int64_t n, const int64_t(&position)[3]) {
    const Point<R> point(grid, rule, dims, n, position, in.sizes);
    const T* from = grad.data + n * grad.batch_stride + position[0] * grad.strides[0] +
                    position[1] * grad.strides[1] + position[2] * grad.strides[2];
    R sums[3] = {point.nan_term, point.nan_term, point.nan_term};
    if (rule.mode != GridMode::kNearest)
      point.for_each(in.strides, [&](int64_t offset, int i, int j, int k) {
        const GridTaps<R>&x = point.axes[0], &y = point.axes[1], &z = point.axes[2];
        R dot = 0;
        for (int64_t c = 0; c < in.channels; ++c)
          dot += R(to_register(from[c * grad.channel_stride])) *
                 R(to_register(in.data[n * in.batch_stride + c * in.channel_stride + offset]));
        sums[0] += dot * x.slope[i] * y.weight[j] * z.weight[k];
        sums[1] += dot * x.weight[i] * y.slope[j] * z.weight[k];
        sums[2] += dot * x.weight[i] * y.weight[j] * z.slope[k];
      });
    T* to = grad_grid.at(n, position);
    for (int d = 0; d < dims; ++d) to[d * grad_grid.component_stride] = to_element<T>(sums[d]);
  });
}

template <class T>
__global__ void __launch_bounds__(kBlock) round_sums(const Real<T>* sums, T* to, int64_t numel) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < numel; e += step)
    to[e] = to_element<T>(sums[e]);
}

template <class T>
void sample_as(const GridSamplerParams& p, const NativeStream& stream) {
  const GridPositions positions(p.out, p.dims);
  sample<T><<<grid_for(positions.numel, stream), kBlock, 0, stream.stream>>>(
      SampledVolume<const T>(p.in, p.dims), Grid<const T>(p.grid, p.dims),
      SampledVolume<T>(p.out, p.dims), p.rule, p.dims, positions);
}

/// Computes grad_in, which is contiguous, since the op allocates it.
template <class T>
void scatter_as(const GridSamplerBackwardParams& p, const NativeStream& stream, Ctx& ctx) {
  using R = Real<T>;
  View sums = p.grad_in;
  const size_t bytes = size_t(sums.numel) * sizeof(R);
  if constexpr (!std::is_same_v<T, R>) sums.data = ctx.scratch(bytes);
  HEARTH_CUDA(cudaMemsetAsync(sums.data, 0, bytes, stream.stream));
  const GridPositions positions(p.grad_out, p.dims);
  if (positions.numel > 0)
    scatter<T><<<grid_for(positions.numel, stream), kBlock, 0, stream.stream>>>(
        SampledVolume<const T>(p.grad_out, p.dims), Grid<const T>(p.grid, p.dims),
        SampledVolume<R>(sums, p.dims), p.rule, p.dims, positions);
  if constexpr (!std::is_same_v<T, R>)
    round_sums<T><<<grid_for(sums.numel, stream), kBlock, 0, stream.stream>>>(
        sums.as<R>(), p.grad_in.as<T>(), sums.numel);
}

template <class T>
void backward_as(const GridSamplerBackwardParams& p, const NativeStream& stream, Ctx& ctx) {
  if (p.grad_in.defined() && p.grad_in.numel > 0) scatter_as<T>(p, stream, ctx);
  const GridPositions positions(p.grad_out, p.dims);
  if (!p.grad_grid.defined() || positions.numel == 0) return;
  differentiate<T><<<grid_for(positions.numel, stream), kBlock, 0, stream.stream>>>(
      SampledVolume<const T>(p.grad_out, p.dims), SampledVolume<const T>(p.in, p.dims),
      Grid<const T>(p.grid, p.dims), Grid<T>(p.grad_grid, p.dims), p.rule, p.dims, positions);
}

}  // namespace

void run(const GridSamplerParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  switch (params.in.dtype) {
    case kHalf: sample_as<Half>(params, stream); break;
    case kBFloat16: sample_as<BFloat16>(params, stream); break;
    case kFloat: sample_as<float>(params, stream); break;
    default: sample_as<double>(params, stream); break;
  }
  check_launch("grid_sampler");
}

void run(const GridSamplerBackwardParams& params, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  switch (params.in.dtype) {
    case kHalf: backward_as<Half>(params, stream, ctx); break;
    case kBFloat16: backward_as<BFloat16>(params, stream, ctx); break;
    case kFloat: backward_as<float>(params, stream, ctx); break;
    default: backward_as<double>(params, stream, ctx); break;
  }
  check_launch("grid_sampler_backward");
}

}  // namespace hearth::cuda
