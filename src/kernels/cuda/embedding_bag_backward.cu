// The gradients of embedding_bag. For sums and means, the indices are sorted by their rows, and one
// thread adds up one column of a row; for maxima, the results are sorted by their elements. So the
// additions have a fixed order. The gradient of scale has a warp per index. Bound by the sort
// (sorted_writes.cuh), by a binary search for the bag of each term and, where a row has many
// indices, by the latency of its threads' sums.
#include "kernels/cuda/embedding_bag_indices.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/sorted_writes.cuh"

namespace hearth::cuda {

namespace {

/// Finds the row to which the gradient of each index is added; offsets are row numbers.
template <class I>
struct RowFinder {
  DeviceBags<I> bags;
  __device__ bool find(int64_t i, int64_t& offset) const {
    if (bags.bag_of(i) < 0) return false;
    offset = bags.row(i);
    return offset >= 0;
  }
};

template <class T, class I>
struct BagSums {
  DeviceBags<I> bags;
  const T *grad, *scale;    // scale may be null
  const int64_t* bag_size;  // null if bags are sums
  int64_t scale_stride, width;
  T* out;

  __device__ T term(int64_t i, int64_t column) const {
    const int64_t bag = bags.bag_of(i);
    double factor = scale ? double(scale[i * scale_stride]) : 1;
    if (bag_size) factor /= double(bag_size[bag]);
    return grad[bag * width + column] * static_cast<T>(factor);
  }
};

/// The threads of a row's first position, one per column, add the values of all its positions.
template <class T, class I>
__global__ void __launch_bounds__(kBlock)
    add_rows_kernel(const __grid_constant__ BagSums<T, I> args, WritePositions sorted) {
  const int64_t step = int64_t{gridDim.x} * kBlock, count = sorted.count * args.width;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < count; e += step) {
    const int64_t first = e / args.width, column = e % args.width;
    const uint64_t row = sorted.offsets[first];
    if (row == kNowhere || (first > 0 && sorted.offsets[first - 1] == row)) continue;
    T sum = 0;
    for (int64_t k = first; k < sorted.count && sorted.offsets[k] == row; ++k)
      sum += args.term(sorted.positions[k], column);
    args.out[static_cast<int64_t>(row) * args.width + column] += sum;
  }
}

template <class T>
void add_sums(const EmbeddingBagBackwardParams& p, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const int64_t count = p.bags.indices.numel, width = p.grad.sizes[1];
  with_bags(p.bags, stream, [&]<class I>(const DeviceBags<I>& bags) {
    const BagSums<T, I> args{bags,
                             p.grad.as<const T>(),
                             p.scale.as<const T>(),
                             p.mode == BagMode::kMean ? p.bag_size.as<const int64_t>() : nullptr,
                             p.scale.defined() ? p.scale.strides[0] : 0,
                             width,
                             p.grad_weight.as<T>()};
    const WritePositions sorted = sort_positions(RowFinder<I>{bags}, count, p.bags.rows, ctx);
    launch(add_rows_kernel<T, I>, grid_for(count * width, stream), stream, args, sorted);
  });
}

/// Finds the element to which the gradient of each maximum is added.
template <class T>
struct MaxFinder {
  const T* grad;
  T* out;
  const int64_t *bag_size, *max_rows;
  int64_t width;
  __device__ bool find(int64_t i, int64_t& offset) const {
    offset = (max_rows[i] * width + i % width) * int64_t(sizeof(T));
    return bag_size[i / width] > 0;
  }
  __device__ const char* value(int64_t i) const { return reinterpret_cast<const char*>(grad + i); }
  __host__ __device__ char* base() const { return reinterpret_cast<char*>(out); }
};

template <class T>
void add_maxima(const EmbeddingBagBackwardParams& p, Ctx& ctx) {
  const MaxFinder<T> finder{p.grad.as<const T>(), p.grad_weight.as<T>(),
                            p.bag_size.as<const int64_t>(), p.max_indices.as<const int64_t>(),
                            p.grad.sizes[1]};
  const WritePositions sorted =
      sort_positions(finder, p.grad.numel, largest_offset(p.grad_weight), ctx);
  combine_sorted<T, false>(finder, sorted, ctx);
}

/// Computes the gradients of scale, which are dot products.
template <class T, class I>
__global__ void __launch_bounds__(kBlock)
    bag_products_kernel(const __grid_constant__ DeviceBags<I> bags, const T* grad, const T* weight,
                        int64_t width, T* out) {
  constexpr int kRows = kBlock / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int64_t step = int64_t{gridDim.x} * kRows;
  for (int64_t i = int64_t{blockIdx.x} * kRows + threadIdx.x / kWarpSize; i < bags.num_indices;
       i += step) {
    const int64_t bag = bags.bag_of(i), row = bag < 0 ? -1 : bags.row(i);
    T sum = 0;
    for (int64_t c = lane; row >= 0 && c < width; c += kWarpSize)
      sum += grad[bag * width + c] * weight[row * width + c];
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
      sum += __shfl_down_sync(~0u, sum, distance);
    if (lane == 0) out[i] = sum;
  }
}

}  // namespace

void run(const EmbeddingBagBackwardParams& params, Ctx& ctx) {
  if (params.bags.indices.numel == 0 || params.grad.numel == 0) return;
  const bool is_double = params.grad.dtype == kDouble;
  if (params.mode == BagMode::kMax)
    return is_double ? add_maxima<double>(params, ctx) : add_maxima<float>(params, ctx);
  is_double ? add_sums<double>(params, ctx) : add_sums<float>(params, ctx);
}

void run(const EmbeddingBagScaleBackwardParams& params, Ctx& ctx) {
  if (params.out.numel == 0 || params.bags.count == 0) return;
  const NativeStream& stream = stream_of(ctx);
  const auto compute = [&](auto element) {
    using T = decltype(element);
    with_bags(params.bags, stream, [&]<class I>(const DeviceBags<I>& bags) {
      launch(bag_products_kernel<T, I>, grid_for(params.out.numel * kWarpSize, stream), stream,
             bags, params.grad.as<const T>(), params.weight.as<const T>(), params.grad.sizes[1],
             params.out.as<T>());
    });
  };
  params.grad.dtype == kDouble ? compute(double{}) : compute(float{});
}

}  // namespace hearth::cuda
