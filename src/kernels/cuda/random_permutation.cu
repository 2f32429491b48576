// A random permutation. A kernel writes a random 64-bit key per position, one per thread at a time,
// and CUB's radix sort orders the positions by them; the sort is stable, so equal keys keep their
// order as on the CPU. Bound by the sort's passes over memory, each of which reads and writes 16
// bytes per position.
#include <cub/device/device_radix_sort.cuh>

#include "core/philox.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/random.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// Writes the positions and their random keys.
__global__ void __launch_bounds__(kBlock)
    keys_kernel(const __grid_constant__ RandomSource source, int64_t numel, uint64_t* keys,
                int64_t* positions) {
  const PhiloxKey key = philox_key(source);
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel; i += step) {
    keys[i] = philox_bits<unsigned long long>(key.seed, key.offset, static_cast<uint64_t>(i));
    positions[i] = i;
  }
}

__global__ void __launch_bounds__(kBlock)
    strided_copy_kernel(const int64_t* from, int64_t numel, int64_t* to, int64_t stride) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel; i += step)
    to[i * stride] = from[i];
}

template <class T>
T* scratch(int64_t count, Ctx& ctx) {
  return static_cast<T*>(ctx.scratch(sizeof(T) * static_cast<size_t>(count)));
}

}  // namespace

void random_permutation(const RandomParams& params, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const int64_t numel = params.out.numel, stride = params.out.dim > 0 ? params.out.strides[0] : 1;
  auto* keys = scratch<uint64_t>(2 * numel, ctx);
  auto* positions = scratch<int64_t>(numel, ctx);
  auto* sorted = stride == 1 ? params.out.as<int64_t>() : scratch<int64_t>(numel, ctx);
  const unsigned grid = grid_for(numel, stream);
  keys_kernel<<<grid, kBlock, 0, stream.stream>>>(params.source, numel, keys, positions);
  size_t bytes = 0;
  const auto sort = [&](void* temporary) {
    HEARTH_CUDA(cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, keys + numel, positions,
                                                sorted, numel, 0, 64, stream.stream));
  };
  sort(nullptr);  // only sets `bytes`
  sort(ctx.scratch(bytes));
  if (stride != 1)
    strided_copy_kernel<<<grid, kBlock, 0, stream.stream>>>(sorted, numel, params.out.as<int64_t>(),
                                                            stride);
}

}  // namespace hearth::cuda
