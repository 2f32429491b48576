// Replaces the elements that an index tensor selects along one dimension, or combines them with
// values. Each thread has one position of the index at a time (gather.cuh). Bound by memory traffic
// at scattered addresses and by atomics, loops of compare-and-swap for products and extremes; sums
// and products of half types, and writes whose order must be fixed, are sorted (sorted_writes.cuh).
#include "seam/scatter.h"

#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/gather.cuh"
#include "kernels/cuda/sorted_writes.cuh"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// Finds the elements of `indexed` for sorted writes.
struct ScatterFinder {
  GatherArgs args;
  __device__ bool find(int64_t i, int64_t& offset) const {
    int64_t plain;
    return find_position(args, i, plain, offset);
  }
  __device__ const char* value(int64_t i) const {
    int64_t plain[1];
    args.offsets.find(i, plain, 1);
    return args.plain + plain[0];
  }
  __host__ __device__ char* base() const { return args.indexed; }
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    scatter_add_kernel(const __grid_constant__ GatherArgs args) {
  for_each_index(args, [](const char* src, char* out) {
    atomic_add(reinterpret_cast<T*>(out), *reinterpret_cast<const T*>(src));
  });
}

template <class Bits>
__global__ void __launch_bounds__(kBlock) scatter_kernel(const __grid_constant__ GatherArgs args) {
  for_each_index(args, [](const char* src, char* out) {
    *reinterpret_cast<Bits*>(out) = *reinterpret_cast<const Bits*>(src);
  });
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    scatter_multiply_kernel(const __grid_constant__ GatherArgs args) {
  for_each_index(args, [](const char* src, char* out) {
    atomic_multiply(reinterpret_cast<T*>(out), *reinterpret_cast<const T*>(src));
  });
}

template <class T, bool largest>
__global__ void __launch_bounds__(kBlock)
    scatter_extreme_kernel(const __grid_constant__ GatherArgs args) {
  for_each_index(args, [](const char* src, char* out) {
    atomic_extreme<largest>(reinterpret_cast<T*>(out), *reinterpret_cast<const T*>(src));
  });
}

/// Whether rounding makes the result depend on the order of the values: sums and products.
bool is_ordered(Combine combine) {
  return combine == Combine::kAdd || combine == Combine::kMultiply;
}

/// The kernel that combines values in a dtype.
using ScatterKernel = void (*)(GatherArgs);
template <class T>
ScatterKernel combining_kernel(Combine combine) {
  if (combine == Combine::kAdd) return scatter_add_kernel<T>;
  if constexpr (!kIsComplex<T>) {
    if (combine == Combine::kMaximum) return scatter_extreme_kernel<T, true>;
    if (combine == Combine::kMinimum) return scatter_extreme_kernel<T, false>;
    return scatter_multiply_kernel<T>;
  }
  detail::fail<Error>("scatter(): multiplying is not implemented for complex tensors on CUDA");
}

ScatterKernel combining_kernel(const ScatterParams& params) {
  switch (params.out.dtype) {
#define HEARTH_SCATTER(T, Name) \
  case ScalarType::Name: return combining_kernel<T>(params.combine);
    HEARTH_CUDA_DTYPES(HEARTH_SCATTER)
#undef HEARTH_SCATTER
    default: detail::fail<Error>("scatter() is not implemented for this dtype");
  }
}

}  // namespace

void run(const ScatterParams& params, Ctx& ctx) {
  if (params.index.numel == 0) return;
  const GatherArgs args = gather_args(params.index, params.src, params.out, params.dim, ctx);
  const NativeStream& stream = stream_of(ctx);
  const unsigned grid = grid_for(args.numel, stream);
  const bool replaces = params.combine == Combine::kReplace;
  const int64_t largest = largest_offset(params.out);
  if (replaces && params.deterministic)
    return replace_in_order(ScatterFinder{args}, args.numel, largest, params.out.dtype, ctx);
  // Also throws if the combination is not implemented.
  const ScatterKernel combining = replaces ? nullptr : combining_kernel(params);
  if (is_ordered(params.combine) && combines_in_order(params.out.dtype, params.deterministic))
    return combine_in_order(ScatterFinder{args}, args.numel, largest, params.out.dtype,
                            params.combine == Combine::kMultiply, ctx);
  if (replaces)
    return with_bits(element_size(params.out.dtype), [&](auto bits) {
      scatter_kernel<decltype(bits)><<<grid, kBlock, 0, stream.stream>>>(args);
    });
  combining<<<grid, kBlock, 0, stream.stream>>>(args);
}

}  // namespace hearth::cuda
