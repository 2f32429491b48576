// searchsorted: the places of values in sorted rows. Each thread searches for one value at a time
// by bisection. Bound by latency: each of the log2(length) loads depends on the one before it; the
// threads of a row share the first ones.
#include "kernels/cuda/convert.h"
#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/stream.h"
#include "seam/search.h"

namespace hearth::cuda {

namespace {

struct SortedRows {
  int64_t length;          // of a sorted row
  int64_t values_per_row;  // values that are searched for in one row
};

template <class T, class I>
__global__ void __launch_bounds__(kBlock)
    search_kernel(const T* sorted, const T* values, I* out, int64_t numel, SortedRows rows,
                  bool right) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel; i += step) {
    const T* row = sorted + i / rows.values_per_row * rows.length;
    const auto value = to_register(values[i]);
    int64_t low = 0, high = rows.length;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const auto element = to_register(row[middle]);
      // Comparisons with NaN are false, so that a NaN is inserted at the end, as in PyTorch.
      if (right ? !(element > value) : !(element >= value))
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = static_cast<I>(low);
  }
}

template <class T, class I>
void search(const SearchParams& params, Ctx& ctx) {
  const View &sorted = params.sorted, &values = params.values;
  const NativeStream& stream = stream_of(ctx);
  const SortedRows rows{
      sorted.dim == 0 ? 1 : sorted.sizes[sorted.dim - 1],
      sorted.dim == 1 || values.dim == 0 ? values.numel : values.sizes[values.dim - 1]};
  search_kernel<T, I><<<grid_for(values.numel, stream), kBlock, 0, stream.stream>>>(
      sorted.as<const T>(), values.as<const T>(), params.out.as<I>(), values.numel, rows,
      params.right);
}

}  // namespace

void run(const SearchParams& params, Ctx& ctx) {
  if (params.values.numel == 0) return;
  const bool is_int32 = params.out.dtype == ScalarType::Int;
  switch (params.sorted.dtype) {
#define HEARTH_SEARCH(T, Name)                                                      \
  case ScalarType::Name:                                                            \
    if constexpr (!kIsComplex<T>)                                                   \
      is_int32 ? search<T, int32_t>(params, ctx) : search<T, int64_t>(params, ctx); \
    break;
    HEARTH_CUDA_DTYPES(HEARTH_SEARCH)
#undef HEARTH_SEARCH
    default: break;
  }
}

}  // namespace hearth::cuda
