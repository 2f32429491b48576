#pragma once

// Shared by gather and scatter: a loop over the index tensor, one position per thread at a time.

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/faults.cuh"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"
#include "seam/view.h"

namespace hearth::cuda {

/// A loop over the index tensor. `plain` has one element per index; the index is the coordinate
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

inline GatherArgs gather_args(const View& index, const View& plain, const View& indexed, int dim,
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
  // Where dimensions differ, one view is 0-d: `plain` then has one element, and the index alone
  // selects the element of `indexed`.
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

/// Finds the byte offsets of position i in `plain` and `indexed`; returns false if the index is out
/// of range.
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

/// Calls work(plain, indexed) for every position whose index is in range.
template <class F>
__device__ __forceinline__ void for_each_index(const GatherArgs& args, F work) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t plain, indexed;
    if (find_position(args, i, plain, indexed)) work(args.plain + plain, args.indexed + indexed);
  }
}

}  // namespace hearth::cuda
