// Unscales gradients in place and checks them for inf and NaN; the next scale is computed by a
// kernel of one thread. A block handles a chunk of 16384 elements of a tensor; its threads load 16
// bytes at a time where the data are aligned. A launch takes up to 512 tensors. Bound by memory
// traffic: each element is read and, unless the scale is 1, written once.
#include "seam/amp.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/tensor_chunks.cuh"

namespace hearth::cuda {

namespace {

/// Tensors that one launch unscales; a kernel argument.
struct UnscaleTable {
  using Chunks = TensorChunks<512, 16384>;
  const float* inv_scale;
  float* found_inf;
  Chunks chunks;
  void* data[Chunks::kMaxTensors];
};

/// Unscales kWide elements; returns whether one of them was not finite.
template <class T, int kWide>
__device__ __forceinline__ bool unscale(T* data, float inv_scale) {
  auto& elements = *reinterpret_cast<Pack<T, kWide>*>(data);
  Pack<T, kWide> pack = elements;
  bool found = false;
#pragma unroll
  for (int e = 0; e < kWide; ++e) {
    const Register<T> value = to_register(pack.v[e]);
    found |= !isfinite(value);
    pack.v[e] = to_element<T>(value * static_cast<Register<T>>(inv_scale));
  }
  if (inv_scale != 1.f) elements = pack;
  return found;
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    unscale_kernel(const __grid_constant__ UnscaleTable table) {
  const auto [tensor, begin, n] = table.chunks.of_block();
  T* const data = static_cast<T*>(table.data[tensor]) + begin;
  const float inv_scale = *table.inv_scale;
  constexpr int kWide = kWideBytes / sizeof(T);
  const int64_t wide = reinterpret_cast<uintptr_t>(data) % kWideBytes == 0 ? n / kWide : 0;
  bool found = false;
  for (int64_t i = threadIdx.x; i < wide; i += kBlock)
    found |= unscale<T, kWide>(data + i * kWide, inv_scale);
  for (int64_t i = wide * kWide + threadIdx.x; i < n; i += kBlock)
    found |= unscale<T, 1>(data + i, inv_scale);
  if (found) *table.found_inf = 1.f;
}

/// Launches the kernel for as many tensors at a time as a table takes.
template <class T>
void run_typed(const AmpUnscaleParams& params, const NativeStream& stream) {
  UnscaleTable table;
  table.inv_scale = params.inv_scale;
  table.found_inf = params.found_inf;
  table.chunks.clear();
  const auto launch = [&] {
    const auto blocks = static_cast<unsigned>(table.chunks.num_chunks());
    if (blocks > 0) unscale_kernel<T><<<blocks, kBlock, 0, stream.stream>>>(table);
  };
  for (const auto& tensor : params.tensors)
    if (tensor.numel > 0) table.data[table.chunks.add(tensor.numel, launch)] = tensor.data;
  launch();
}

__global__ void update_kernel(const __grid_constant__ AmpUpdateScaleParams params) {
  update_scale(params);
}

}  // namespace

void run(const AmpUnscaleParams& params, Ctx& ctx) {
  switch (params.dtype) {
    case kFloat: return run_typed<float>(params, stream_of(ctx));
    case kDouble: return run_typed<double>(params, stream_of(ctx));
    case kHalf: return run_typed<Half>(params, stream_of(ctx));
    case kBFloat16: return run_typed<BFloat16>(params, stream_of(ctx));
    default: detail::fail<Error>("unscaling is not implemented for '", name_of(params.dtype), "'");
  }
}

void run(const AmpUpdateScaleParams& params, Ctx& ctx) {
  update_kernel<<<1, 1, 0, stream_of(ctx).stream>>>(params);
}

}  // namespace hearth::cuda
