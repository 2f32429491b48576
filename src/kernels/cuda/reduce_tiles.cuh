#pragma once

// The loops of reductions, such as sums, maxima and batch statistics. Each block reduces tiles of
// outputs; the threads of an output merge their states as a tree. Large reductions are split
// among blocks, whose states a second kernel merges. The order depends on shapes and strides alone,
// so results are the same in every run. Bound by reading the inputs once.
//
// An Op is a trivially copyable class with
//   State, start()             the state of no elements (trivially copyable)
//   add(state, offsets, r, k)  adds element r of output k, given its byte offsets in the inputs
//   merge(a, b)                the state of the elements of both
//   store(k, offsets, state)   writes output k, given its byte offsets in inputs and outputs
//   kInputs, kOutputs          numbers of strided operands
//   kChains                    independent states per thread (1 or 4): more loads in flight

#include "kernels/cuda/offsets.h"
#include "kernels/cuda/reduce_plan.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

template <class Op>
struct ReduceArgs {
  TilePlan plan;
  Offsets<Op::kInputs + Op::kOutputs> kept;  // over the outputs
  Offsets<Op::kInputs> reduced;              // over the elements of one output
  void* partial;                             // states by split and output; null without splits
};

/// The output of a tile that a thread computes, and its rank among the threads of that output.
struct ThreadRole {
  int output, rank;
  __device__ __forceinline__ explicit ThreadRole(const TilePlan& plan) {
    const int thread = static_cast<int>(threadIdx.x), log_threads = plan.log_threads;
    output = plan.by_rows ? thread >> log_threads : thread & ((kBlock >> log_threads) - 1);
    rank = plan.by_rows ? thread & ((1 << log_threads) - 1) : thread >> (kLogBlock - log_threads);
  }
};

/// Merges the states of an output's threads; only the thread of rank 0 gets the result.
template <class Op>
__device__ __forceinline__ typename Op::State merge_threads(const Op& op, typename Op::State state,
                                                            ThreadRole role, int log_threads) {
  using State = typename Op::State;
  __shared__ alignas(16) unsigned char bytes[kBlock * sizeof(State)];
  auto* states = reinterpret_cast<State*>(bytes) + (role.output << log_threads);
  states[role.rank] = state;
  for (int half = 1 << log_threads >> 1; half > 0; half >>= 1) {
    __syncthreads();
    if (role.rank < half) states[role.rank] = state = op.merge(state, states[role.rank + half]);
  }
  __syncthreads();  // before the next tile overwrites the states
  return state;
}

/// Reduces elements first, first + step, … below `end` of output k.
template <class Op>
__device__ __forceinline__ typename Op::State accumulate(const Op& op, const ReduceArgs<Op>& args,
                                                         int64_t k, int64_t first, int64_t end,
                                                         int64_t step) {
  constexpr int kChains = Op::kChains;
  int64_t base[Op::kInputs];
  args.kept.find(k, base);
  typename Op::State chains[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) chains[c] = op.start();
  for (int64_t r = first; r < end; r += kChains * step) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) {
      const int64_t element = r + c * step;
      if (element >= end) break;
      int64_t offsets[Op::kInputs];
      args.reduced.find(element, offsets);
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) offsets[i] += base[i];
      op.add(chains[c], offsets, element, k);
    }
  }
  if constexpr (kChains == 1)
    return chains[0];
  else
    return op.merge(op.merge(chains[0], chains[1]), op.merge(chains[2], chains[3]));
}

template <class Op>
__device__ __forceinline__ void store_output(const Op& op, const ReduceArgs<Op>& args, int64_t k,
                                             const typename Op::State& state) {
  int64_t offsets[Op::kInputs + Op::kOutputs];
  args.kept.find(k, offsets);
  op.store(k, offsets, state);
}

/// Reduces the inputs; gridDim.y is the number of splits.
template <class Op>
__global__ void __launch_bounds__(kBlock)
    reduce_kernel(const __grid_constant__ Op op, const __grid_constant__ ReduceArgs<Op> args) {
  const TilePlan& plan = args.plan;
  const ThreadRole role(plan);
  const int64_t per_tile = kBlock >> plan.log_threads, split = blockIdx.y;
  const int64_t begin = split * plan.split_length,
                end = min(begin + plan.split_length, plan.reduced);
  for (int64_t tile = blockIdx.x; tile * per_tile < plan.outputs; tile += gridDim.x) {
    const int64_t k = tile * per_tile + role.output;
    typename Op::State state = op.start();
    if (k < plan.outputs)
      state = accumulate(op, args, k, begin + role.rank, end, int64_t{1} << plan.log_threads);
    state = merge_threads(op, state, role, plan.log_threads);
    if (role.rank != 0 || k >= plan.outputs) continue;
    if (args.partial != nullptr)
      static_cast<typename Op::State*>(args.partial)[split * plan.outputs + k] = state;
    else
      store_output(op, args, k, state);
  }
}

/// Merges the states of all splits.
template <class Op>
__global__ void __launch_bounds__(kBlock)
    merge_kernel(const __grid_constant__ Op op, const __grid_constant__ ReduceArgs<Op> args) {
  const TilePlan& plan = args.plan;
  const ThreadRole role(plan);
  const int64_t per_tile = kBlock >> plan.log_threads;
  const auto* partial = static_cast<const typename Op::State*>(args.partial);
  for (int64_t tile = blockIdx.x; tile * per_tile < plan.outputs; tile += gridDim.x) {
    const int64_t k = tile * per_tile + role.output;
    typename Op::State state = op.start();
    if (k < plan.outputs)
      for (int64_t split = role.rank; split < plan.splits; split += int64_t{1} << plan.log_threads)
        state = op.merge(state, partial[split * plan.outputs + k]);
    state = merge_threads(op, state, role, plan.log_threads);
    if (role.rank == 0 && k < plan.outputs) store_output(op, args, k, state);
  }
}

/// Runs op over all outputs. `kept` is the loop over the outputs (inputs' strides, then outputs'),
/// `reduced` is the loop over the elements of one output (inputs' strides). merge_op has the same
/// State, and its add() is not called, so that one merge_kernel can serve several Ops.
template <class Op, class MergeOp>
void launch_reduction(const Op& op, const MergeOp& merge_op, const Loop& kept, const Loop& reduced,
                      Ctx& ctx) {
  if (kept.numel() == 0) return;
  ReduceArgs<Op> args;
  args.plan = plan_tiles(kept, reduced);
  args.kept = Offsets<Op::kInputs + Op::kOutputs>(kept);
  args.reduced = Offsets<Op::kInputs>(reduced);
  args.partial = nullptr;
  const TilePlan plan = args.plan;
  if (plan.splits > 1)
    args.partial =
        ctx.scratch(sizeof(typename Op::State) * static_cast<size_t>(plan.splits * plan.outputs));
  const cudaStream_t stream = stream_of(ctx).stream;
  reduce_kernel<Op>
      <<<dim3(tiles_of(plan), static_cast<unsigned>(plan.splits)), kBlock, 0, stream>>>(op, args);
  if (plan.splits == 1) return;
  const TilePlan merge = plan_merge(plan);
  merge_kernel<MergeOp><<<tiles_of(merge), kBlock, 0, stream>>>(
      merge_op, ReduceArgs<MergeOp>{merge, args.kept, args.reduced, args.partial});
}
template <class Op>
void launch_reduction(const Op& op, const Loop& kept, const Loop& reduced, Ctx& ctx) {
  launch_reduction(op, op, kept, reduced, ctx);
}

}  // namespace hearth::cuda
