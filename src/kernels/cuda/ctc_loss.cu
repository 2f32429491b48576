// The CTC loss and its gradient. Each block computes one sequence at a time, step by step, with the
// states of a step divided among the threads; the last kernel has a block per sequence and step.
// Bound by latency: a barrier, exponentials and a logarithm for each step, and for the gradient the
// one thread that adds up all states of the blank.
#include "seam/ctc_loss.h"

#include "kernels/ctc_loss_sequence.h"
#include "kernels/cuda/faults.cuh"
#include "kernels/cuda/launch.h"

namespace hearth::cuda {

namespace {

/// Whether all labels of the block's sequence are classes; reports those that are not.
template <class T>
__device__ bool has_valid_labels(const CtcSequence<T>& s, int64_t classes, FaultSlot* faults) {
  __shared__ int any_bad;
  __syncthreads();  // all threads have read the flag of the previous sequence
  if (threadIdx.x == 0) any_bad = 0;
  __syncthreads();
  for (int64_t state = 2 * int64_t{threadIdx.x} + 1; state < s.states; state += 2 * kBlock)
    if (!s.is_valid(state)) {
      report(faults, Fault::kBadLabel, s.label(state), classes);
      any_bad = 1;
    }
  __syncthreads();
  return any_bad == 0;
}

/// The logarithms of probabilities of the states of a batch: [batch, times, width].
template <class T>
struct StateLines {
  T* data;
  int64_t times, width;
  __device__ T* at(int64_t n, int64_t t) const { return data + (n * times + t) * width; }
};

/// Computes alpha of all states, and the losses.
template <class T>
__global__ void __launch_bounds__(kBlock)
    ctc_loss_kernel(const __grid_constant__ CtcBatch<T> batch, int64_t count, StateLines<T> alpha,
                    T* losses, FaultSlot* faults) {
  for (int64_t n = blockIdx.x; n < count; n += gridDim.x) {
    const CtcSequence<T> s(batch, n);
    for (int64_t i = threadIdx.x; i < alpha.times * alpha.width; i += kBlock)
      alpha.at(n, 0)[i] = kNever<T>;
    if (!has_valid_labels(s, batch.classes, faults)) {
      if (threadIdx.x == 0) losses[n] = std::numeric_limits<T>::quiet_NaN();
      continue;
    }
    for (int64_t t = 0; t < s.times; ++t) {
      const T* const before = alpha.at(n, t > 0 ? t - 1 : 0);
      for (int64_t i = threadIdx.x; i < s.states; i += kBlock)
        alpha.at(n, t)[i] = s.alpha(t, i, before);
      __syncthreads();
    }
    if (threadIdx.x == 0) losses[n] = s.loss(alpha.at(n, s.times > 0 ? s.times - 1 : 0));
  }
}

/// Computes alpha + beta of all states, and whether a sequence has gradients.
template <class T>
__global__ void __launch_bounds__(kBlock)
    ctc_beta_kernel(const __grid_constant__ CtcBatch<T> batch, int64_t count, StateLines<T> alpha,
                    StateLines<T> beta, StateLines<T> sums, const T* losses, bool zero_infinity,
                    int* has_gradients, FaultSlot* faults) {
  for (int64_t n = blockIdx.x; n < count; n += gridDim.x) {
    const CtcSequence<T> s(batch, n);
    const bool is_valid =
        has_valid_labels(s, batch.classes, faults) && !(zero_infinity && losses[n] == -kNever<T>);
    if (threadIdx.x == 0) has_gradients[n] = is_valid;
    for (int64_t t = s.times - 1; is_valid && t >= 0; --t) {
      T* const line = beta.at(n, t % 2);
      for (int64_t i = threadIdx.x; i < s.states; i += kBlock) {
        line[i] = s.beta(t, i, beta.at(n, (t + 1) % 2));
        sums.at(n, t)[i] = alpha.at(n, t)[i] + line[i];
      }
      __syncthreads();
    }
  }
}

template <class T>
struct CtcGradient {
  StateLines<T> sums;  // alpha + beta
  const T *losses, *grad_losses;
  int64_t grad_stride, count;
  const int* has_gradients;
  T* grads;  // [times, batch, classes]
};

/// The thread of a label's first state sums the probabilities of all states with this label.
template <class T>
__global__ void __launch_bounds__(kBlock)
    ctc_gradient_kernel(const __grid_constant__ CtcBatch<T> batch,
                        const __grid_constant__ CtcGradient<T> args) {
  for (int64_t line = blockIdx.x; line < args.sums.times * args.count; line += gridDim.x) {
    const int64_t n = line % args.count, t = line / args.count;
    const CtcSequence<T> s(batch, n);
    const bool is_used = t < s.times && args.has_gradients[n] != 0;
    const T loss = args.losses[n], factor = args.grad_losses[n * args.grad_stride];
    T* const grads = args.grads + line * batch.classes;
    for (int64_t c = threadIdx.x; c < batch.classes; c += kBlock)
      grads[c] = is_used ? s.gradient(t, c, kNever<T>, loss, factor) : T(0);
    __syncthreads();
    for (int64_t i = threadIdx.x; is_used && i < s.states; i += kBlock) {
      const int64_t label = s.label(i);
      bool is_first = true;
      for (int64_t k = 0; is_first && k < i; ++k) is_first = s.label(k) != label;
      if (!is_first) continue;
      T sum = kNever<T>;
      for (int64_t k = i; k < s.states; ++k)
        if (s.label(k) == label) sum = log_sum(sum, args.sums.at(n, t)[k]);
      grads[label] = s.gradient(t, label, sum, loss, factor);
    }
    __syncthreads();
  }
}

template <class T>
StateLines<T> lines_of(const View& view) {
  return {view.as<T>(), view.sizes[1], view.sizes[2]};
}

template <class T>
void backward(const CtcLossBackwardParams& params, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const int64_t count = params.loss.numel;
  const StateLines<T> alpha = lines_of<T>(params.log_alpha);
  const auto scratch = [&](int64_t times) {
    const auto bytes = static_cast<size_t>(count * times * alpha.width) * sizeof(T);
    return StateLines<T>{static_cast<T*>(ctx.scratch(bytes)), times, alpha.width};
  };
  const StateLines<T> beta = scratch(2), sums = scratch(alpha.times);
  auto* const has_gradients = static_cast<int*>(ctx.scratch(size_t(count) * sizeof(int)));
  const CtcBatch<T> batch(params.sequences);
  const T* const losses = params.loss.as<const T>();
  launch(ctc_beta_kernel<T>, grid_of_blocks(count), stream, batch, count, alpha, beta, sums, losses,
         params.zero_infinity, has_gradients, stream.faults);
  const CtcGradient<T> args{
      sums,  losses,        params.grad_loss.as<const T>(), params.grad_loss.strides[0],
      count, has_gradients, params.grad_log_probs.as<T>()};
  launch(ctc_gradient_kernel<T>, grid_of_blocks(count * alpha.times), stream, batch, args);
}

template <class T>
void forward(const CtcLossParams& params, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  launch(ctc_loss_kernel<T>, grid_of_blocks(params.loss.numel), stream,
         CtcBatch<T>(params.sequences), params.loss.numel, lines_of<T>(params.log_alpha),
         params.loss.as<T>(), stream.faults);
}

}  // namespace

void run(const CtcLossParams& params, Ctx& ctx) {
  if (params.loss.numel == 0) return;
  params.loss.dtype == kDouble ? forward<double>(params, ctx) : forward<float>(params, ctx);
}

void run(const CtcLossBackwardParams& params, Ctx& ctx) {
  if (params.grad_log_probs.numel == 0) return;
  params.loss.dtype == kDouble ? backward<double>(params, ctx) : backward<float>(params, ctx);
}

}  // namespace hearth::cuda
