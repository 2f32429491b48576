// Upsampling and, transposed, its gradient. Kernels with one table entry per thread find the
// elements that each result reads along each dimension, and their weights; then each thread sums up
// one element of the result at a time, in a fixed order. Bound by the loads through the caches, an
// element and a weight per tap, or with few taps by memory traffic.
#include "seam/upsample.h"

#include <algorithm>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// The inputs of each result along one dimension: result i is the sum over k < count[i] of
/// weights[i * width + k] times the input first[i] + k.
template <class T>
struct Table {
  int64_t size, width;  // the number of results, and of weights stored for each
  int64_t *first, *count;
  T* weights;
};

/// Fills the table of the forward pass with the taps of each output.
template <class T>
__global__ void __launch_bounds__(kBlock) fill_forward(Table<T> table, UpsampleAxis axis) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < table.size; i += step) {
    const UpsampleTaps<T> taps = axis.taps<T>(i);
    const int64_t first = axis.index(taps, 0);
    int64_t count = 0;
    // Taps outside the input are moved to its edge: the weights of taps at one position are added.
    for (int64_t k = 0; k < taps.count; ++k) {
      const int64_t offset = axis.index(taps, k) - first;
      for (; count <= offset; ++count) table.weights[i * table.width + count] = 0;
      table.weights[i * table.width + offset] += axis.weight(taps, k);
    }
    table.first[i] = first;
    table.count[i] = count;
  }
}

/// Returns the first output that reads `input` or a later one; with `only_later`, the first output
/// that reads only inputs after `input`. A binary search: later outputs never read earlier inputs.
template <class T>
__device__ int64_t first_reader(const Table<T>& forward, int64_t input, bool only_later) {
  int64_t low = 0, high = forward.size;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    const int64_t reads =
        only_later ? forward.first[middle] - 1 : forward.first[middle] + forward.count[middle] - 1;
    if (reads >= input)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Fills the table of the backward pass with the outputs that read each input. It has no weights;
/// the kernel uses the weights of the forward table.
template <class T>
__global__ void __launch_bounds__(kBlock) fill_readers(Table<T> table, Table<T> forward) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t j = int64_t{blockIdx.x} * kBlock + threadIdx.x; j < table.size; j += step) {
    table.first[j] = first_reader(forward, j, false);
    const int64_t end = first_reader(forward, j, true);
    table.count[j] = end > table.first[j] ? end - table.first[j] : 0;
  }
}

template <class T>
struct Tables {
  Table<T> reads[3];    // the elements of `in` that each element of the result reads
  Table<T> forward[3];  // the weights of the forward pass
};

/// A view of [batch, channels, depth, height, width].
template <class T>
struct VolumeView {
  T* data;
  int64_t strides[5] = {};

  VolumeView(const View& view) : data(view.as<T>()) {
    for (int d = 0; d < view.dim; ++d) strides[d < 2 ? d : d + 5 - view.dim] = view.strides[d];
  }
  __device__ __forceinline__ T& at(const int64_t (&i)[5]) const {
    return data[i[0] * strides[0] + i[1] * strides[1] + i[2] * strides[2] + i[3] * strides[3] +
                i[4] * strides[4]];
  }
};

struct VolumePositions {
  int64_t numel;
  FastDivisor sizes[5];

  explicit VolumePositions(const View& view) : numel(view.numel) {
    for (int d = 0; d < view.dim; ++d)
      sizes[d < 2 ? d : d + 5 - view.dim] = FastDivisor(view.sizes[d]);
  }
};

/// Sums up the elements that each result reads, times their weights.
template <class T, class R, bool transposed>
__global__ void __launch_bounds__(kBlock)
    gather(VolumeView<const T> in, VolumeView<T> out, VolumePositions positions, Tables<R> tables) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < positions.numel; e += step) {
    int64_t to[5], from[5], number = e;
    for (int d = 4; d >= 0; --d) number = positions.sizes[d].divide(number, to[d]);
    from[0] = to[0];
    from[1] = to[1];
    const auto count = [&](int d) { return tables.reads[d].count[to[d + 2]]; };
    const auto weight = [&](int d, int64_t k) {
      const Table<R>& t = tables.forward[d];
      const int64_t i = transposed ? tables.reads[d].first[to[d + 2]] + k : to[d + 2];
      return t.weights[i * t.width + (transposed ? to[d + 2] - t.first[i] : k)];
    };
    // Moves `from` to the k-th element to read along d; returns its weight.
    const auto move = [&](int d, int64_t k) {
      from[d + 2] = tables.reads[d].first[to[d + 2]] + k;
      return weight(d, k);
    };
    R sum = 0;
    for (int64_t z = 0; z < count(0); ++z) {
      const R depth = move(0, z);
      for (int64_t y = 0; y < count(1); ++y) {
        const R row = depth * move(1, y);
        for (int64_t x = 0; x < count(2); ++x)
          sum += row * move(2, x) * R(to_register(in.at(from)));
      }
    }
    if constexpr (std::is_integral_v<T>)
      out.at(to) = static_cast<T>(min(max(rint(sum), R(0)), R(255)));
    else
      out.at(to) = to_element<T>(sum);
  }
}

template <class T>
Table<T> allocate(int64_t size, int64_t width, Ctx& ctx) {
  const auto array = [&](int64_t count, size_t element_size) {
    return ctx.scratch(size_t(std::max<int64_t>(count, 1)) * element_size);
  };
  Table<T> table;
  table.size = size;
  table.width = width;
  table.first = static_cast<int64_t*>(array(size, sizeof(int64_t)));
  table.count = static_cast<int64_t*>(array(size, sizeof(int64_t)));
  table.weights = static_cast<T*>(array(size * width, sizeof(T)));
  return table;
}

template <class T>
Tables<T> tables_of(const UpsampleParams& p, const NativeStream& stream, Ctx& ctx) {
  Tables<T> tables;
  for (int d = 0; d < 3; ++d) {
    const int axis = d - 3 + p.dims;
    const UpsampleAxis a = axis < 0 ? UpsampleAxis() : p.axes[axis];
    tables.forward[d] = allocate<T>(a.out, a.max_taps<T>(), ctx);
    fill_forward<T><<<grid_for(a.out, stream), kBlock, 0, stream.stream>>>(tables.forward[d], a);
    tables.reads[d] = tables.forward[d];
    if (!p.transposed) continue;
    tables.reads[d] = allocate<T>(a.in, 0, ctx);
    fill_readers<T>
        <<<grid_for(a.in, stream), kBlock, 0, stream.stream>>>(tables.reads[d], tables.forward[d]);
  }
  return tables;
}

template <class T>
void run_as(const UpsampleParams& p, const NativeStream& stream, Ctx& ctx) {
  using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Tables<R> tables = tables_of<R>(p, stream, ctx);
  const VolumePositions positions(p.out);
  const auto kernel = p.transposed ? gather<T, R, true> : gather<T, R, false>;
  kernel<<<grid_for(positions.numel, stream), kBlock, 0, stream.stream>>>(p.in, p.out, positions,
                                                                          tables);
}

}  // namespace

void run(const UpsampleParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  switch (params.out.dtype) {
    case kByte: run_as<uint8_t>(params, stream, ctx); break;
    case kHalf: run_as<Half>(params, stream, ctx); break;
    case kBFloat16: run_as<BFloat16>(params, stream, ctx); break;
    case kFloat: run_as<float>(params, stream, ctx); break;
    default: run_as<double>(params, stream, ctx); break;
  }
  check_launch("upsample");
}

}  // namespace hearth::cuda
