#include "seam/amp.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr int kMaxTensors = 512;   // of one launch, whose table is a kernel argument
constexpr int64_t kChunk = 16384;  // elements of a chunk: one block's work
constexpr int kWideBytes = 16;     // loaded and stored at once

/// Tensors whose chunks one launch unscales.
struct UnscaleTable {
  const float* inv_scale;
  float* found_inf;
  int count;
  int first_chunk[kMaxTensors + 1];
  int64_t numel[kMaxTensors];
  void* data[kMaxTensors];
};

/// Unscales kWide elements; returns whether one of them was not finite.
template <class T, int kWide>
__device__ __forceinline__ bool unscale(T* data, float by) {
  auto& elements = *reinterpret_cast<Pack<T, kWide>*>(data);
  Pack<T, kWide> pack = elements;
  bool found = false;
#pragma unroll
  for (int e = 0; e < kWide; ++e) {
    const Register<T> value = to_register(pack.v[e]);
    found |= !isfinite(value);
    pack.v[e] = to_element<T>(value * static_cast<Register<T>>(by));
  }
  if (by != 1.f) elements = pack;
  return found;
}

/// Each block unscales one chunk of a tensor.
template <class T>
__global__ void __launch_bounds__(kBlock)
    unscale_kernel(const __grid_constant__ UnscaleTable table) {
  int tensor = 0;
  for (int end = table.count; end - tensor > 1;) {
    const int middle = (tensor + end) / 2;
    (table.first_chunk[middle] <= int(blockIdx.x) ? tensor : end) = middle;
  }
  const int64_t begin = (int64_t{blockIdx.x} - table.first_chunk[tensor]) * kChunk;
  const int64_t rest = table.numel[tensor] - begin, n = rest < kChunk ? rest : kChunk;
  T* const data = static_cast<T*>(table.data[tensor]) + begin;
  const float by = *table.inv_scale;
  constexpr int kWide = kWideBytes / sizeof(T);
  const int64_t wide = reinterpret_cast<uintptr_t>(data) % kWideBytes == 0 ? n / kWide : 0;
  bool found = false;
  for (int64_t i = threadIdx.x; i < wide; i += kBlock)
    found |= unscale<T, kWide>(data + i * kWide, by);
  for (int64_t i = wide * kWide + threadIdx.x; i < n; i += kBlock)
    found |= unscale<T, 1>(data + i, by);
  if (found) *table.found_inf = 1.f;
}

/// Launches the kernel for up to kMaxTensors tensors at a time.
template <class T>
void run_typed(const AmpUnscaleParams& params, const NativeStream& stream) {
  UnscaleTable table;
  table.inv_scale = params.inv_scale;
  table.found_inf = params.found_inf;
  table.count = table.first_chunk[0] = 0;
  const auto launch = [&] {
    const int blocks = table.first_chunk[table.count];
    if (blocks == 0) return;
    unscale_kernel<T><<<static_cast<unsigned>(blocks), kBlock, 0, stream.stream>>>(table);
    table.count = 0;
  };
  for (const auto& tensor : params.tensors) {
    const int64_t chunks = (tensor.numel + kChunk - 1) / kChunk;
    if (chunks == 0) continue;
    if (table.count == kMaxTensors || table.first_chunk[table.count] + chunks > INT32_MAX) launch();
    const int i = table.count++;
    table.numel[i] = tensor.numel;
    table.data[i] = tensor.data;
    table.first_chunk[i + 1] = table.first_chunk[i] + static_cast<int>(chunks);
  }
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
