// The norm of all elements of many tensors. Each block reduces one chunk of 16384 elements, one
// element per thread at a time, and one launch takes up to 1024 tensors; the last block of the last
// launch merges the states of all chunks in a fixed order. Bound by reading the tensors once.
#include "seam/optim_norm.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/tensor_chunks.cuh"

namespace hearth::cuda {

namespace {

/// Tensors that one launch reduces; a kernel argument.
struct NormTable {
  using Chunks = TensorChunks<1024, 16384>;
  Chunks chunks;
  const void* data[Chunks::kMaxTensors];
};

/// The states of the chunks of all launches, which the last block of the last launch merges, and
/// the result.
struct NormOutput {
  void* states;
  int first_state;         // of this launch
  int num_states;          // of all launches
  unsigned* num_finished;  // blocks that have written their state; null before the last launch
  void* out;
};

template <class F, class C>
__device__ __forceinline__ C start() {
  return fn::start_value<C>(F::start[0]);
}

/// Merges the states of a block's threads as a tree, so that the order is fixed.
template <class F, class C>
__device__ __forceinline__ C merge_block(const F& f, C state) {
  __shared__ C states[kBlock];
  states[threadIdx.x] = state;
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      states[threadIdx.x] = f.merge(fn::State<Lane<C>, 1>{{Lane<C>(states[threadIdx.x])}},
                                    fn::State<Lane<C>, 1>{{Lane<C>(states[threadIdx.x + half])}})
                                .part[0]
                                .v;
  }
  __syncthreads();
  const C result = states[0];
  __syncthreads();
  return result;
}

/// Returns this thread's state of the block's chunk.
template <class F, class T>
__device__ __forceinline__ Register<T> reduce_chunk(const F& f, const NormTable& table) {
  using C = Register<T>;
  const auto [tensor, begin, n] = table.chunks.of_block();
  const T* const data = static_cast<const T*>(table.data[tensor]) + begin;
  fn::State<Lane<C>, 1> state{{Lane<C>(start<F, C>())}};
  for (int64_t i = threadIdx.x; i < n; i += kBlock)
    state = f.combine(state, Lane<C>(to_register(data[i])));
  return state.part[0].v;
}

template <class F, class T>
__global__ void __launch_bounds__(kBlock)
    norm_kernel(const __grid_constant__ F f, const __grid_constant__ NormTable table,
                const __grid_constant__ NormOutput output) {
  using C = Register<T>;
  C* const states = static_cast<C*>(output.states);
  const C chunk = merge_block(f, reduce_chunk<F, T>(f, table));
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    states[output.first_state + blockIdx.x] = chunk;
    __threadfence();
    is_last = output.num_finished != nullptr && atomicAdd(output.num_finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  fn::State<Lane<C>, 1> state{{Lane<C>(start<F, C>())}};
  for (int i = threadIdx.x; i < output.num_states; i += kBlock)
    state = f.merge(state, fn::State<Lane<C>, 1>{{Lane<C>(__ldcg(states + i))}});
  const C total = merge_block(f, state.part[0].v);
  if (threadIdx.x == 0)
    *static_cast<T*>(output.out) =
        to_element<T>(f.finish(fn::State<Lane<C>, 1>{{Lane<C>(total)}}).v);
}

/// Launches the kernel for as many tensors at a time as a table takes.
template <class F, class T>
void run_typed(const TotalNormParams& params, Ctx& ctx) {
  F f;
  std::memcpy(static_cast<void*>(&f), params.parameters, sizeof f);
  const cudaStream_t stream = stream_of(ctx).stream;
  int64_t chunks = 0;
  for (const auto& tensor : params.tensors) chunks += NormTable::Chunks::chunks_of(tensor.numel);
  if (chunks > INT32_MAX)
    detail::fail<Error>("the norm of this many elements is not implemented on CUDA");
  auto* const num_finished = static_cast<unsigned*>(ctx.scratch(sizeof(unsigned)));
  HEARTH_CUDA(cudaMemsetAsync(num_finished, 0, sizeof(unsigned), stream));
  NormOutput output{ctx.scratch(size_t(chunks + 1) * sizeof(Register<T>)), 0, int(chunks), nullptr,
                    params.out};
  NormTable table;
  table.chunks.clear();
  const auto launch = [&] {
    const int blocks = table.chunks.num_chunks();
    norm_kernel<F, T><<<static_cast<unsigned>(blocks), kBlock, 0, stream>>>(f, table, output);
    output.first_state += blocks;
  };
  for (const auto& tensor : params.tensors)
    if (tensor.numel > 0) table.data[table.chunks.add(tensor.numel, launch)] = tensor.data;
  output.num_finished = num_finished;
  launch();
}

template <class F>
void run_norm(const TotalNormParams& params, Ctx& ctx) {
  switch (params.dtype) {
    case kFloat: return run_typed<F, float>(params, ctx);
    case kDouble: return run_typed<F, double>(params, ctx);
    case kHalf: return run_typed<F, Half>(params, ctx);
    case kBFloat16: return run_typed<F, BFloat16>(params, ctx);
    default: detail::fail<Error>("a norm is not implemented for '", name_of(params.dtype), "'");
  }
}

using NormFn = void (*)(const TotalNormParams& params, Ctx& ctx);

template <class... F>
NormFn norm_of(int index, List<F...>) {
  static constexpr NormFn norms[] = {&run_norm<F>...};
  return norms[index];
}

}  // namespace

void run(const TotalNormParams& params, Ctx& ctx) {
  norm_of(params.norm, NormFunctors{})(params, ctx);
}

}  // namespace hearth::cuda
