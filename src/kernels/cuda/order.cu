// Sorts, topk, kthvalue, medians and modes along a dimension. A kernel writes keys and indices, one
// element per thread at a time; CUB's radix sort orders whole lines, whatever the function; another
// kernel has one result per thread. Bound by the sort's passes over memory, a key and 8 bytes of
// index per element, and modes by one thread per line, which reads all of it.
#include "seam/order.h"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/error.h"
#include "kernels/cuda/lines.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"
#include "kernels/order_keys.h"

namespace hearth::cuda {

namespace {

constexpr int64_t kMaxSorted = int64_t{1} << 28;  // elements in one call to CUB of several lines

/// The keys of elements and the elements' indices in their lines, as CUB sorts them.
template <class K>
struct KeyedIndices {
  K* keys;
  int64_t* indices;
};

/// Writes the keys of all lines, one line after the other, and the elements' indices in their
/// lines.
template <class T>
__global__ void __launch_bounds__(kBlock)
    keys_kernel(const char* in, const __grid_constant__ Offsets<1> offsets, int64_t numel,
                FastDivisor n, bool descending, KeyedIndices<order::KeyOf<T>> to) {
  using K = order::KeyOf<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel; i += step) {
    int64_t offset[1], index;
    offsets.find(i, offset);
    n.divide(i, index);
    const K key = order::key_of_bits<T>(*reinterpret_cast<const K*>(in + offset[0]));
    to.keys[i] = descending ? K(~key) : key;
    to.indices[i] = index;
  }
}

struct SelectArgs {
  int64_t numel, n;  // results, elements of a line
  FastDivisor results_per_line;
  OrderKind kind;
  int64_t k;
  const char* in;
  char *values, *indices;
  Offsets<3> lines;  // in, values, indices
  int64_t step[3];   // along a line, in bytes
};

/// Returns the rank of result r of a line among the line's sorted elements.
template <class T>
__device__ int64_t rank_of(const SelectArgs& args, const order::KeyOf<T>* keys, int64_t r) {
  switch (args.kind) {
    case OrderKind::kKth: return args.k;
    case OrderKind::kMedian:
    case OrderKind::kNanMedian: {
      int64_t num_not_nan = args.n;
      if constexpr (order::kHasNan<T>)
        if (keys[args.n - 1] == order::kNanKey<T>) {
          int64_t low = 0, high = args.n - 1;
          while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (keys[middle] == order::kNanKey<T>)
              high = middle;
            else
              low = middle + 1;
          }
          num_not_nan = low;
        }
      if (num_not_nan < args.n && (num_not_nan == 0 || args.kind == OrderKind::kMedian))
        return num_not_nan;
      return (num_not_nan - 1) / 2;
    }
    case OrderKind::kMode: {
      int64_t best = 0, longest = 0;
      for (int64_t begin = 0, end = 0; begin < args.n; begin = end) {
        while (end < args.n && keys[end] == keys[begin]) ++end;
        if (end - begin <= longest) continue;
        longest = end - begin;
        best = end - 1;
      }
      return best;
    }
    default: return r;
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    select_kernel(const __grid_constant__ SelectArgs args, KeyedIndices<order::KeyOf<T>> sorted) {
  using K = order::KeyOf<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t r, offsets[3];
    const int64_t line = args.results_per_line.divide(i, r);
    args.lines.find(line, offsets);
    const int64_t rank = rank_of<T>(args, sorted.keys + line * args.n, r);
    const int64_t index = sorted.indices[line * args.n + rank];
    *reinterpret_cast<K*>(args.values + offsets[1] + r * args.step[1]) =
        *reinterpret_cast<const K*>(args.in + offsets[0] + index * args.step[0]);
    *reinterpret_cast<int64_t*>(args.indices + offsets[2] + r * args.step[2]) = index;
  }
}

/// The start of each line among the elements of all lines.
struct LineStart {
  int64_t n;
  __host__ __device__ int64_t operator()(int64_t line) const { return line * n; }
};

/// Sorts `lines` lines of n elements each; with null `temporary`, only sets `bytes` to its size.
template <class K>
void sort_lines(KeyedIndices<K> from, KeyedIndices<K> to, int64_t lines, int64_t n, void* temporary,
                size_t& bytes, cudaStream_t stream) {
  if (lines == 1) {
    HEARTH_CUDA(cub::DeviceRadixSort::SortPairs(temporary, bytes, from.keys, to.keys, from.indices,
                                                to.indices, n, 0, int(8 * sizeof(K)), stream));
    return;
  }
  const auto starts =
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), LineStart{n});
  HEARTH_CUDA(cub::DeviceSegmentedRadixSort::SortPairs(
      temporary, bytes, from.keys, to.keys, from.indices, to.indices, int(lines * n), int(lines),
      starts, starts + 1, 0, int(8 * sizeof(K)), stream));
}

template <class K>
void sort_all(KeyedIndices<K> from, KeyedIndices<K> to, int64_t lines, int64_t n, Ctx& ctx) {
  const int64_t batch = std::max<int64_t>(1, std::min(lines, kMaxSorted / n));
  size_t bytes = 0, rest_bytes = 0;
  sort_lines(from, to, batch, n, nullptr, bytes, stream_of(ctx).stream);
  if (lines % batch != 0)
    sort_lines(from, to, lines % batch, n, nullptr, rest_bytes, stream_of(ctx).stream);
  bytes = std::max(bytes, rest_bytes);
  void* temporary = ctx.scratch(bytes);
  for (int64_t l = 0; l < lines; l += batch)
    sort_lines(KeyedIndices<K>{from.keys + l * n, from.indices + l * n},
               KeyedIndices<K>{to.keys + l * n, to.indices + l * n}, std::min(batch, lines - l), n,
               temporary, bytes, stream_of(ctx).stream);
}

template <class K>
KeyedIndices<K> scratch_pairs(int64_t numel, Ctx& ctx) {
  return {static_cast<K*>(ctx.scratch(sizeof(K) * size_t(numel))),
          static_cast<int64_t*>(ctx.scratch(sizeof(int64_t) * size_t(numel)))};
}

template <class T>
void run_typed(const OrderParams& params, Ctx& ctx) {
  using K = order::KeyOf<T>;
  const View in = lines_along(params.in, params.dim),
             values = lines_along(params.values, params.dim),
             indices = lines_along(params.indices, params.dim);
  const int64_t n = last_size(in), lines = in.numel / n;
  const NativeStream& stream = stream_of(ctx);
  const KeyedIndices<K> unsorted = scratch_pairs<K>(in.numel, ctx),
                        sorted = scratch_pairs<K>(in.numel, ctx);
  Loop elements(in.dim, in.sizes);
  elements.add(in);
  elements.merge();
  keys_kernel<T><<<grid_for(in.numel, stream), kBlock, 0, stream.stream>>>(
      in.as<const char>(), Offsets<1>(elements), in.numel, FastDivisor(n), params.descending,
      unsorted);
  sort_all(unsorted, sorted, lines, n, ctx);
  Loop loop(in.dim - 1, in.sizes);
  for (const View* view : {&in, &values, &indices}) loop.add(*view);
  loop.merge();
  const SelectArgs args{values.numel,
                        n,
                        FastDivisor(last_size(values)),
                        params.kind,
                        params.k,
                        in.as<const char>(),
                        values.as<char>(),
                        indices.as<char>(),
                        Offsets<3>(loop),
                        {last_step(in), last_step(values), last_step(indices)}};
  select_kernel<T><<<grid_for(args.numel, stream), kBlock, 0, stream.stream>>>(args, sorted);
}

}  // namespace

void run(const OrderParams& params, Ctx& ctx) {
  if (params.values.numel == 0) return;
  switch (params.in.dtype) {
#define HEARTH_ORDER(T, Name)                                \
  case ScalarType::Name:                                     \
    if constexpr (!kIsComplex<T>) run_typed<T>(params, ctx); \
    break;
    HEARTH_CUDA_DTYPES(HEARTH_ORDER)
#undef HEARTH_ORDER
    default: break;
  }
}

}  // namespace hearth::cuda
