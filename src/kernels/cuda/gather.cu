// Gathers the elements that an index tensor selects along one dimension. Each thread has one
// position of the index at a time (gather.cuh). Bound by memory traffic: per position an index, a
// result and an element, for which a whole sector of 32 bytes is read unless adjacent indices
// select adjacent elements.
#include "seam/gather.h"

#include "kernels/cuda/gather.cuh"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

template <class Bits>
__global__ void __launch_bounds__(kBlock) gather_kernel(const __grid_constant__ GatherArgs args) {
  for_each_index(args, [](char* out, const char* in) {
    *reinterpret_cast<Bits*>(out) = *reinterpret_cast<const Bits*>(in);
  });
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

}  // namespace hearth::cuda
