// Reads, replaces or adds to the elements that index tensors select. Each thread has one position
// at a time of the result or of the values, and reads one index per index tensor. Bound by memory
// traffic at scattered addresses, in additions by atomics; additions of half types, and writes
// whose order must be fixed, are sorted instead (sorted_writes.cuh).
#include "seam/index.h"

#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/error.h"
#include "kernels/cuda/faults.cuh"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/sorted_writes.cuh"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

struct IndexedDimArgs {
  const char* index;
  ScalarType dtype;
  int dim;
  int64_t size, byte_stride;
};

/// A loop over the positions of the result, or of the values to put.
struct IndexArgs {
  int64_t numel;
  char* origin;  // the indexed tensor
  char* plain;   // the result, or the values to put
  int num_indices;
  IndexedDimArgs indices[kMaxDims];
  Offsets<2 + kMaxDims> offsets;  // origin, plain, then the index tensors
  FaultSlot* faults;
};
static_assert(sizeof(IndexArgs) <= 4096, "more than a kernel's parameters may take");

IndexArgs index_args(const IndexLayout& layout, const View& plain, const Ctx& ctx) {
  IndexArgs args;
  args.numel = plain.numel;
  args.origin = layout.origin.as<char>();
  args.plain = plain.as<char>();
  args.num_indices = static_cast<int>(layout.indices.size());
  args.faults = ctx.faults();
  Loop loop(plain.dim, plain.sizes);
  loop.add(layout.origin);
  loop.add(plain);
  for (int i = 0; i < args.num_indices; ++i) {
    const IndexedDim& from = layout.indices[static_cast<size_t>(i)];
    args.indices[i] = {from.index.as<const char>(), from.index.dtype, from.dim, from.size,
                       from.stride * static_cast<int64_t>(element_size(layout.origin.dtype))};
    loop.add(from.index);
  }
  loop.merge();
  args.offsets = Offsets<2 + kMaxDims>(loop);
  return args;
}

/// Adds the byte offset of the indices at position i to `offset`; returns false if one is out of
/// range.
__device__ __forceinline__ bool indexed_offset(const IndexArgs& args, int64_t i, int64_t& offset) {
  for (int k = 0; k < args.num_indices; ++k) {
    const IndexedDimArgs& dim = args.indices[k];
    int64_t index_offset[1];
    args.offsets.find(i, index_offset, 2 + k);
    const int64_t index = load_index(dim.index + index_offset[0], dim.dtype);
    if (index < -dim.size || index >= dim.size) {
      report(args.faults, Fault::kIndexOutOfRange, index, dim.dim, dim.size);
      return false;
    }
    offset += (index < 0 ? index + dim.size : index) * dim.byte_stride;
  }
  return true;
}

/// Finds the indexed tensor's elements for sorted writes.
struct IndexFinder {
  IndexArgs args;
  __device__ bool find(int64_t i, int64_t& offset) const {
    int64_t origin[1];
    args.offsets.find(i, origin);
    offset = origin[0];
    return indexed_offset(args, i, offset);
  }
  __device__ const char* value(int64_t i) const {
    int64_t plain[1];
    args.offsets.find(i, plain, 1);
    return args.plain + plain[0];
  }
  __host__ __device__ char* base() const { return args.origin; }
};

/// The largest byte offset that indices can reach.
int64_t largest_indexed_offset(const IndexLayout& layout) {
  int64_t offset = largest_offset(layout.origin);
  for (const IndexedDim& from : layout.indices)
    offset +=
        (from.size - 1) * from.stride * static_cast<int64_t>(element_size(layout.origin.dtype));
  return offset;
}

/// Calls work(element of the indexed tensor, element of the plain one) for every position with
/// valid indices.
template <class F>
__device__ __forceinline__ void for_each_position(const IndexArgs& args, F work) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[2];
    args.offsets.find(i, offsets);
    if (indexed_offset(args, i, offsets[0]))
      work(args.origin + offsets[0], args.plain + offsets[1]);
  }
}

template <class Bits>
__global__ void __launch_bounds__(kBlock) index_kernel(const __grid_constant__ IndexArgs args) {
  for_each_position(args, [](const char* in, char* out) {
    *reinterpret_cast<Bits*>(out) = *reinterpret_cast<const Bits*>(in);
  });
}

template <class Bits>
__global__ void __launch_bounds__(kBlock) index_put_kernel(const __grid_constant__ IndexArgs args) {
  for_each_position(args, [](char* to, const char* value) {
    *reinterpret_cast<Bits*>(to) = *reinterpret_cast<const Bits*>(value);
  });
}

template <class T>
__global__ void __launch_bounds__(kBlock) index_add_kernel(const __grid_constant__ IndexArgs args) {
  for_each_position(args, [](char* to, const char* value) {
    atomic_add(reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(value));
  });
}

}  // namespace

void run(const IndexParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const IndexArgs args = index_args(params.from, params.out, ctx);
  const NativeStream& stream = stream_of(ctx);
  with_bits(element_size(params.out.dtype), [&](auto bits) {
    index_kernel<decltype(bits)><<<grid_for(args.numel, stream), kBlock, 0, stream.stream>>>(args);
  });
}

void run(const IndexPutParams& params, Ctx& ctx) {
  if (params.values.numel == 0) return;
  const IndexArgs args = index_args(params.to, params.values, ctx);
  const NativeStream& stream = stream_of(ctx);
  const unsigned grid = grid_for(args.numel, stream);
  const ScalarType dtype = params.values.dtype;
  if (params.accumulate && combines_in_order(dtype, params.deterministic))
    return combine_in_order(IndexFinder{args}, args.numel, largest_indexed_offset(params.to), dtype,
                            false, ctx);
  if (!params.accumulate && params.deterministic)
    return replace_in_order(IndexFinder{args}, args.numel, largest_indexed_offset(params.to), dtype,
                            ctx);
  if (!params.accumulate)
    return with_bits(element_size(params.values.dtype), [&](auto bits) {
      index_put_kernel<decltype(bits)><<<grid, kBlock, 0, stream.stream>>>(args);
    });
  switch (params.values.dtype) {
#define HEARTH_INDEX_ADD(T, Name) \
  case ScalarType::Name: index_add_kernel<T><<<grid, kBlock, 0, stream.stream>>>(args); break;
    HEARTH_CUDA_DTYPES(HEARTH_INDEX_ADD)
#undef HEARTH_INDEX_ADD
    default:
      detail::fail<NotImplementedError>("\"index_put\" not implemented for '", name_of(dtype), "'");
  }
}

}  // namespace hearth::cuda
