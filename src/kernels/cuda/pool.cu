#include "seam/pool.h"

#include <limits>
#include <type_traits>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// A 4-D view with T's elements.
template <class T>
struct Image {
  T* data;
  int64_t strides[4];

  explicit Image(const View& view) : data(view.as<T>()) {
    for (int d = 0; d < view.dim; ++d) strides[d] = view.strides[d];
  }
  __device__ __forceinline__ T& at(int64_t n, int64_t c, int64_t i, int64_t j) const {
    return data[n * strides[0] + c * strides[1] + i * strides[2] + j * strides[3]];
  }
};

/// Converts an element's row-major number to its coordinates.
struct Positions {
  int64_t numel;
  FastDivisor channels, rows, columns;

  explicit Positions(const View& view)
      : numel(view.numel), channels(view.sizes[1]), rows(view.sizes[2]), columns(view.sizes[3]) {}
  __device__ __forceinline__ void find(int64_t number, int64_t (&coordinates)[4]) const {
    number = columns.divide(number, coordinates[3]);
    number = rows.divide(number, coordinates[2]);
    coordinates[0] = channels.divide(number, coordinates[1]);
  }
};

/// Calls work(n, c, i, j) for every element.
template <class F>
__device__ __forceinline__ void for_each_position(const Positions& positions, F work) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < positions.numel; e += step) {
    int64_t at[4];
    positions.find(e, at);
    work(at[0], at[1], at[2], at[3]);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    max_kernel(Image<const T> in, Image<T> out, Image<int64_t> indices, PoolShape shape,
               Positions positions) {
  for_each_position(positions, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
    // A window without an element gets the index of the nearest one.
    int64_t best_h = min(shape.rows.first(i), shape.rows.in - 1);
    int64_t best_w = min(shape.columns.first(j), shape.columns.in - 1);
    using Number = Register<T>;
    Number best = std::numeric_limits<Number>::has_infinity
                      ? -std::numeric_limits<Number>::infinity()
                      : std::numeric_limits<Number>::lowest();
    for (int64_t h = shape.rows.first(i); h < shape.rows.last(i); h += shape.rows.dilation)
      for (int64_t w = shape.columns.first(j); w < shape.columns.last(j);
           w += shape.columns.dilation) {
        const auto x = to_register(in.at(n, c, h, w));
        if (!(x > best) && x == x) continue;
        best = x;
        best_h = h;
        best_w = w;
      }
    out.at(n, c, i, j) = to_element<T>(best);
    indices.at(n, c, i, j) = best_h * shape.columns.in + best_w;
  });
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    average_kernel(Image<const T> in, Image<T> out, PoolShape shape, Positions positions) {
  for_each_position(positions, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
    // Sums of small integers do not fit into their type.
    using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, Register<T>>;
    Sum sum = 0;
    for (int64_t h = shape.rows.first(i); h < shape.rows.last(i); ++h)
      for (int64_t w = shape.columns.first(j); w < shape.columns.last(j); ++w)
        sum += to_register(in.at(n, c, h, w));
    const Sum average = sum / static_cast<Sum>(shape.divisor_at(i, j));
    out.at(n, c, i, j) = to_element<T>(static_cast<Register<T>>(average));
  });
}

/// Every input element adds up the gradients of the outputs whose windows may contain it: without
/// atomics, so that the result is the same in every run.
template <class T>
__global__ void __launch_bounds__(kBlock)
    backward_kernel(Image<const T> grad_out, Image<T> grad_in, Image<const int64_t> indices,
                    PoolShape shape, Positions positions) {
  for_each_position(positions, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    Register<T> sum = 0;
    const int64_t here = h * shape.columns.in + w;
    for (int64_t i = shape.rows.first_covering(h); i < shape.rows.end_covering(h); ++i)
      for (int64_t j = shape.columns.first_covering(w); j < shape.columns.end_covering(w); ++j) {
        const Register<T> g = to_register(grad_out.at(n, c, i, j));
        if (!is_max(shape.kind))
          sum += g / static_cast<Register<T>>(shape.divisor_at(i, j));
        else if (indices.at(n, c, i, j) == here)
          sum += g;
      }
    grad_in.at(n, c, h, w) = to_element<T>(sum);
  });
}

template <class T>
void run_as(const PoolParams& p, const NativeStream& stream) {
  const Positions positions(p.out);
  const unsigned grid = grid_for(positions.numel, stream);
  if (is_max(p.shape.kind))
    max_kernel<T><<<grid, kBlock, 0, stream.stream>>>(
        Image<const T>(p.in), Image<T>(p.out), Image<int64_t>(p.indices), p.shape, positions);
  else
    average_kernel<T><<<grid, kBlock, 0, stream.stream>>>(Image<const T>(p.in), Image<T>(p.out),
                                                          p.shape, positions);
}

template <class T>
void run_backward_as(const PoolBackwardParams& p, const NativeStream& stream) {
  const Positions positions(p.grad_in);
  backward_kernel<T><<<grid_for(positions.numel, stream), kBlock, 0, stream.stream>>>(
      Image<const T>(p.grad_out), Image<T>(p.grad_in), Image<const int64_t>(p.indices), p.shape,
      positions);
}

}  // namespace

void run(const PoolParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  switch (params.in.dtype) {
    case kByte: run_as<uint8_t>(params, stream); break;
    case kChar: run_as<int8_t>(params, stream); break;
    case kShort: run_as<int16_t>(params, stream); break;
    case kInt: run_as<int32_t>(params, stream); break;
    case kLong: run_as<int64_t>(params, stream); break;
    case kHalf: run_as<Half>(params, stream); break;
    case kBFloat16: run_as<BFloat16>(params, stream); break;
    case kFloat: run_as<float>(params, stream); break;
    default: run_as<double>(params, stream); break;
  }
  check_launch("pool");
}

void run(const PoolBackwardParams& params, Ctx& ctx) {
  if (params.grad_in.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  switch (params.grad_in.dtype) {
    case kHalf: run_backward_as<Half>(params, stream); break;
    case kBFloat16: run_backward_as<BFloat16>(params, stream); break;
    case kFloat: run_backward_as<float>(params, stream); break;
    default: run_backward_as<double>(params, stream); break;
  }
  check_launch("pool backward");
}

}  // namespace hearth::cuda
