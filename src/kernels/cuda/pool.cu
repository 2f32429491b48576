// Pooling and its gradient. Each thread has one output at a time and reads its window; backward, it
// has one input element and adds up the gradients of the outputs whose windows may contain it,
// without atomics, so that the result is the same in every run. Bound by loads of windows, which
// overlap in the caches, or with few outputs and large windows by the latency of each thread's
// loads.
#include "seam/pool.h"

#include <limits>
#include <type_traits>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// A volume of elements of type T.
template <class T>
struct Volume {
  T* data;
  int64_t layer, row, column;  // strides

  __device__ __forceinline__ T& at(int64_t k, int64_t i, int64_t j) const {
    return data[k * layer + i * row + j * column];
  }
};

/// A 5-D view with elements of type T.
template <class T>
struct Image {
  T* data;
  int64_t strides[5] = {};

  explicit Image(const View& view) : data(view.as<T>()) {
    for (int d = 0; d < view.dim; ++d) strides[d] = view.strides[d];
  }
  __device__ __forceinline__ Volume<T> volume(int64_t n, int64_t c) const {
    return {data + n * strides[0] + c * strides[1], strides[2], strides[3], strides[4]};
  }
};

/// The coordinates of an element in a batch of volumes.
struct Position {
  int64_t n, c, k, i, j;
};

/// Converts an element's row-major index to its position.
struct Positions {
  int64_t numel;
  FastDivisor channels, layers, rows, columns;

  explicit Positions(const View& view)
      : numel(view.numel),
        channels(view.sizes[1]),
        layers(view.sizes[2]),
        rows(view.sizes[3]),
        columns(view.sizes[4]) {}
  __device__ __forceinline__ Position find(int64_t index) const {
    Position p;
    index = columns.divide(index, p.j);
    index = rows.divide(index, p.i);
    index = layers.divide(index, p.k);
    p.n = channels.divide(index, p.c);
    return p;
  }
};

/// Calls work(position) for every element.
template <class F>
__device__ __forceinline__ void for_each_position(const Positions& positions, F work) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < positions.numel; e += step)
    work(positions.find(e));
}

/// Calls visit(k, i, j) for every position of the window of output p.
template <class F>
__device__ __forceinline__ void for_each_in_window(const PoolShape& shape, const Position& p,
                                                   F visit) {
  for (int64_t k = shape.depth().first(p.k); k < shape.depth().last(p.k);
       k += shape.depth().dilation)
    for (int64_t i = shape.rows().first(p.i); i < shape.rows().last(p.i);
         i += shape.rows().dilation)
      for (int64_t j = shape.columns().first(p.j); j < shape.columns().last(p.j);
           j += shape.columns().dilation)
        visit(k, i, j);
}

/// Finds the maxima of windows. `begins` is PoolParams::begins, for irregular windows.
template <class T, bool irregular>
__global__ void __launch_bounds__(kBlock)
    max_kernel(Image<const T> in, Image<T> out, Image<int64_t> indices, const int64_t* begins,
               int64_t channels, PoolShape shape, Positions positions) {
  for_each_position(positions, [&](const Position& p) {
    if constexpr (irregular) shape.set_begins(begins + (p.n * channels + p.c) * shape.begins());
    // A window without an element gets the index of the nearest element.
    int64_t best_k = min(shape.depth().first(p.k), shape.depth().in - 1);
    int64_t best_i = min(shape.rows().first(p.i), shape.rows().in - 1);
    int64_t best_j = min(shape.columns().first(p.j), shape.columns().in - 1);
    using Number = Register<T>;
    Number best = std::numeric_limits<Number>::has_infinity
                      ? -std::numeric_limits<Number>::infinity()
                      : std::numeric_limits<Number>::lowest();
    const Volume<const T> values = in.volume(p.n, p.c);
    for_each_in_window(shape, p, [&](int64_t k, int64_t i, int64_t j) {
      const auto x = to_register(values.at(k, i, j));
      if (!(x > best) && x == x) return;
      best = x;
      best_k = k;
      best_i = i;
      best_j = j;
    });
    out.volume(p.n, p.c).at(p.k, p.i, p.j) = to_element<T>(best);
    indices.volume(p.n, p.c).at(p.k, p.i, p.j) =
        (best_k * shape.rows().in + best_i) * shape.columns().in + best_j;
  });
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    average_kernel(Image<const T> in, Image<T> out, PoolShape shape, Positions positions) {
  for_each_position(positions, [&](const Position& p) {
    // Sums of small integers do not fit into their type.
    using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, Register<T>>;
    Sum sum = 0;
    const Volume<const T> values = in.volume(p.n, p.c);
    for_each_in_window(
        shape, p, [&](int64_t k, int64_t i, int64_t j) { sum += to_register(values.at(k, i, j)); });
    const Sum average = sum / static_cast<Sum>(shape.divisor_at(p.k, p.i, p.j));
    out.volume(p.n, p.c).at(p.k, p.i, p.j) = to_element<T>(static_cast<Register<T>>(average));
  });
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    backward_kernel(Image<const T> grad_out, Image<T> grad_in, Image<const int64_t> indices,
                    PoolShape shape, Positions positions) {
  for_each_position(positions, [&](const Position& p) {
    Register<T> sum = 0;
    const int64_t own_index = (p.k * shape.rows().in + p.i) * shape.columns().in + p.j;
    const Volume<const T> gradients = grad_out.volume(p.n, p.c);
    const Volume<const int64_t> maxima = indices.volume(p.n, p.c);
    const int64_t layers = shape.depth().end_covering(p.k), rows = shape.rows().end_covering(p.i),
                  columns = shape.columns().end_covering(p.j);
    for (int64_t k = shape.depth().first_covering(p.k); k < layers; ++k)
      for (int64_t i = shape.rows().first_covering(p.i); i < rows; ++i)
        for (int64_t j = shape.columns().first_covering(p.j); j < columns; ++j) {
          const Register<T> g = to_register(gradients.at(k, i, j));
          if (!is_max(shape.kind))
            sum += g / static_cast<Register<T>>(shape.divisor_at(k, i, j));
          else if (maxima.at(k, i, j) == own_index)
            sum += g;
        }
    grad_in.volume(p.n, p.c).at(p.k, p.i, p.j) = to_element<T>(sum);
  });
}

template <class T, bool irregular>
void run_max(const PoolParams& p, const Positions& positions, const NativeStream& stream) {
  max_kernel<T, irregular><<<grid_for(positions.numel, stream), kBlock, 0, stream.stream>>>(
      Image<const T>(p.in), Image<T>(p.out), Image<int64_t>(p.indices), p.begins.as<int64_t>(),
      p.in.sizes[1], p.shape, positions);
}

template <class T>
void run_as(const PoolParams& p, const NativeStream& stream) {
  const Positions positions(p.out);
  const unsigned grid = grid_for(positions.numel, stream);
  if (p.begins.defined())
    run_max<T, !std::is_integral_v<T>>(p, positions, stream);  // integers have no such windows
  else if (is_max(p.shape.kind))
    run_max<T, false>(p, positions, stream);
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
