// The distances of all pairs of rows of a and b, and their gradient. Forward, each block computes
// tiles of 16 x 16 distances, one per thread, with 16 columns of a and b at a time in shared
// memory; backward, each thread has one element of the gradient of a. Bound by the loads of each
// term, two from shared memory or, backward, three through the caches, and for p other than 0, 1, 2
// and infinity by pow.
#include "seam/cdist.h"

#include "kernels/cdist_math.h"
#include "kernels/cuda/lane.h"
#include "kernels/cuda/launch.h"
#include "kernels/linalg_sizes.h"

namespace hearth::cuda {

namespace {

/// Calls f(constant) with the norm as a constant.
template <class F>
void with_norm(double p, const F& f) {
  using enum Norm;
  switch (norm_of(p)) {
    case kZero: return f(std::integral_constant<Norm, kZero>{});
    case kOne: return f(std::integral_constant<Norm, kOne>{});
    case kTwo: return f(std::integral_constant<Norm, kTwo>{});
    case kInfinity: return f(std::integral_constant<Norm, kInfinity>{});
    case kOther: return f(std::integral_constant<Norm, kOther>{});
  }
}

/// A side of a tile of distances, and the number of elements of each row that are loaded at once.
constexpr int kSide = 16;
static_assert(kSide * kSide == kBlock);

template <class T>
struct Distances {
  const T *a, *b;
  T* out;
  int64_t batch, rows, columns, width;
  T p;
  bool upper;

  /// The number of tiles along a, along b, and in all.
  __host__ __device__ int64_t row_tiles() const { return (rows + kSide - 1) / kSide; }
  __host__ __device__ int64_t column_tiles() const { return (columns + kSide - 1) / kSide; }
  __host__ __device__ int64_t tiles() const { return batch * row_tiles() * column_tiles(); }
  /// The index of a distance in `out`, or -1 if it has none.
  __device__ int64_t index(int64_t n, int64_t i, int64_t j) const {
    if (i >= rows || j >= columns) return -1;
    if (!upper) return (n * rows + i) * columns + j;
    return i < j ? i * (2 * rows - i - 1) / 2 + j - i - 1 : -1;
  }
};

template <Norm norm, class T>
__device__ T root_of(T sum, T p) {
  if constexpr (norm == Norm::kTwo)
    return ::sqrt(sum);
  else if constexpr (norm == Norm::kOther)
    return ::pow(sum, 1 / p);
  else
    return sum;
}

template <Norm norm, class T>
__global__ void __launch_bounds__(kBlock) cdist_kernel(const __grid_constant__ Distances<T> args) {
  using V = Lane<T>;
  __shared__ T rows[2][kSide][kSide + 1];
  const int x = static_cast<int>(threadIdx.x) % kSide, y = static_cast<int>(threadIdx.x) / kSide;
  const auto load = [&](const T* from, int64_t row, int64_t num_rows, int64_t column) {
    return row < num_rows && column < args.width ? from[row * args.width + column] : T(0);
  };
  for (int64_t tile = blockIdx.x; tile < args.tiles(); tile += gridDim.x) {
    const int64_t j0 = tile % args.column_tiles() * kSide, line = tile / args.column_tiles(),
                  i0 = line % args.row_tiles() * kSide, n = line / args.row_tiles();
    const T* const a = args.a + n * args.rows * args.width;
    const T* const b = args.b + n * args.columns * args.width;
    V sum(0);
    for (int64_t first = 0; first < args.width; first += kSide) {
      __syncthreads();  // the previous elements have been read
      rows[0][y][x] = load(a, i0 + y, args.rows, first + x);
      rows[1][y][x] = load(b, j0 + y, args.columns, first + x);
      __syncthreads();
      // Differences past the end are 0, and so are their terms.
      for (int k = 0; k < kSide; ++k)
        sum = distance_with_term<norm>(sum, V(rows[0][y][k] - rows[1][x][k]), V(args.p));
    }
    if (const int64_t to = args.index(n, i0 + y, j0 + x); to >= 0)
      args.out[to] = root_of<norm>(sum.v, args.p);
  }
}

template <class T>
struct DistanceGradient {
  const T *a, *b, *grad, *dist;
  T* grad_a;
  int64_t batch, rows, columns, width;
  int64_t grad_strides[3], dist_strides[3];
  T p;
};

template <Norm norm, class T>
__global__ void __launch_bounds__(kBlock)
    cdist_gradient_kernel(const __grid_constant__ DistanceGradient<T> args) {
  using V = Lane<T>;
  const int64_t count = args.batch * args.rows * args.width, step = int64_t{gridDim.x} * kBlock;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < count; e += step) {
    const int64_t m = e % args.width, row = e / args.width, i = row % args.rows,
                  n = row / args.rows;
    const auto line = [&](const T* data, const int64_t(&strides)[3]) {
      return data + n * strides[0] + i * strides[1];
    };
    const T *const grads = line(args.grad, args.grad_strides), *const dists = line(
                                                                   args.dist, args.dist_strides);
    V sum(0);
    for (int64_t j = 0; j < args.columns; ++j) {
      const T dist = dists[j * args.dist_strides[2]];
      T factor = dist == T(0) ? T(0) : grads[j * args.grad_strides[2]];
      if (factor == T(0)) continue;
      if constexpr (norm == Norm::kTwo) factor /= dist;
      if constexpr (norm == Norm::kOther) factor /= ::pow(dist, args.p - 1);
      const V difference(args.a[e] - args.b[(n * args.columns + j) * args.width + m]);
      sum = sum + distance_derivative<norm>(difference, V(args.p), V(factor), V(dist));
    }
    args.grad_a[e] = sum.v;
  }
}

}  // namespace

void run(const CdistParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  with_real(params.a.dtype, [&](auto element) {
    using T = decltype(element);
    const Distances<T> args{params.a.as<const T>(), params.b.as<const T>(),   params.out.as<T>(),
                            params.a.sizes[0],      params.a.sizes[1],        params.b.sizes[1],
                            params.a.sizes[2],      static_cast<T>(params.p), params.upper};
    with_norm(params.p, [&](auto norm) {
      launch(cdist_kernel<norm(), T>, grid_of_blocks(args.tiles()), stream_of(ctx), args);
    });
  });
}

void run(const CdistBackwardParams& params, Ctx& ctx) {
  if (params.grad_a.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  with_real(params.a.dtype, [&](auto element) {
    using T = decltype(element);
    DistanceGradient<T> args{params.a.as<const T>(),
                             params.b.as<const T>(),
                             params.grad.as<const T>(),
                             params.dist.as<const T>(),
                             params.grad_a.as<T>(),
                             params.a.sizes[0],
                             params.a.sizes[1],
                             params.b.sizes[1],
                             params.a.sizes[2],
                             {},
                             {},
                             static_cast<T>(params.p)};
    std::copy_n(params.grad.strides, 3, args.grad_strides);
    std::copy_n(params.dist.strides, 3, args.dist_strides);
    with_norm(params.p, [&](auto norm) {
      if constexpr (norm() == Norm::kZero)
        HEARTH_CUDA(cudaMemsetAsync(args.grad_a, 0, size_t(params.grad_a.numel) * sizeof(T),
                                    stream.stream));
      else
        launch(cdist_gradient_kernel<norm(), T>, grid_for(params.grad_a.numel, stream), stream,
               args);
    });
  });
}

}  // namespace hearth::cuda
