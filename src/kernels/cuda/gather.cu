#include "seam/gather.h"

#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/error.h"
#include "kernels/cuda/faults.cuh"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/sorted_writes.cuh"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// A loop over the index. `plain` has one element for every index; the index is the coordinate
/// along `dim` in `indexed`.
struct GatherArgs {
  int64_t numel;
  const char* index;
  char* plain;
  char* indexed;
  ScalarType index_dtype;
  int dim;
  int64_t size, byte_stride;  // of `indexed` along dim
  Offsets<3> offsets;         // index, plain, indexed
  FaultSlot* faults;
};

GatherArgs gather_args(const View& index, const View& plain, const View& indexed, int dim,
                       const Ctx& ctx) {
  GatherArgs args;
  args.numel = index.numel;
  args.index = index.as<const char>();
  args.plain = plain.as<char>();
  args.indexed = indexed.as<char>();
  args.index_dtype = index.dtype;
  args.dim = dim;
  args.size = indexed.dim == 0 ? 1 : indexed.sizes[dim];
  args.byte_stride =
      indexed.dim == 0 ? 0 : indexed.strides[dim] * int64_t(element_size(indexed.dtype));
  Loop loop(index.dim, index.sizes);
  loop.add(index);
  loop.add(plain.dim == index.dim ? plain.strides : index.strides, element_size(plain.dtype));
  View fixed = indexed;  // along dim the index gives the coordinate
  if (fixed.dim > 0) fixed.strides[dim] = 0;
  loop.add(fixed.dim == index.dim ? fixed.strides : index.strides,
           fixed.dim == index.dim ? element_size(indexed.dtype) : 0);
  loop.merge();
  args.offsets = Offsets<3>(loop);
  args.faults = ctx.faults();
  return args;
}

/// The byte offsets of position i in `plain` and `indexed`; false if the index is out of range.
__device__ __forceinline__ bool find_position(const GatherArgs& args, int64_t i, int64_t& plain,
                                              int64_t& indexed) {
  int64_t offsets[3];
  args.offsets.find(i, offsets);
  plain = offsets[1];
  const int64_t index = load_index(args.index + offsets[0], args.index_dtype);
  indexed = offsets[2] + index * args.byte_stride;
  if (index >= 0 && index < args.size) return true;
  report(args.faults, Fault::kIndexOutOfRange, index, args.dim, args.size);
  return false;
}

/// Calls work(plain, indexed) for every position of the index.
template <class F>
__device__ __forceinline__ void for_each_index(const GatherArgs& args, F work) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t plain, indexed;
    if (find_position(args, i, plain, indexed)) work(args.plain + plain, args.indexed + indexed);
  }
}

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

template <class Bits>
__global__ void __launch_bounds__(kBlock) gather_kernel(const __grid_constant__ GatherArgs args) {
  for_each_index(args, [](char* out, const char* in) {
    *reinterpret_cast<Bits*>(out) = *reinterpret_cast<const Bits*>(in);
  });
}

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

/// The kernel that adds or multiplies in a dtype.
using ScatterKernel = void (*)(GatherArgs);
template <class T>
ScatterKernel combining_kernel(Combine combine) {
  if (combine == Combine::kAdd) return scatter_add_kernel<T>;
  if constexpr (!kIsComplex<T>) return scatter_multiply_kernel<T>;
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

void run(const GatherParams& params, Ctx& ctx) {
  if (params.index.numel == 0) return;
  const GatherArgs args = gather_args(params.index, params.out, params.in, params.dim, ctx);
  const NativeStream& stream = stream_of(ctx);
  with_bits(element_size(params.in.dtype), [&](auto bits) {
    gather_kernel<decltype(bits)><<<grid_for(args.numel, stream), kBlock, 0, stream.stream>>>(args);
  });
}

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
  if (!replaces && combines_in_order(params.out.dtype, params.deterministic))
    return combine_in_order(ScatterFinder{args}, args.numel, largest, params.out.dtype,
                            params.combine == Combine::kMultiply, ctx);
  if (replaces)
    return with_bits(element_size(params.out.dtype), [&](auto bits) {
      scatter_kernel<decltype(bits)><<<grid, kBlock, 0, stream.stream>>>(args);
    });
  combining<<<grid, kBlock, 0, stream.stream>>>(args);
}

}  // namespace hearth::cuda
