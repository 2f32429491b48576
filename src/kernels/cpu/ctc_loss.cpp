// The CTC loss of each sequence, and its gradient, by log probabilities of states, [times, 2 *
// labels + 1]: a time's probabilities follow from those of the time before (backward: after). A
// task is one sequence, whose states are computed one by one. Bound by log_sum(): three
// exponentials and a logarithm for each state and time; backward twice as many, and two
// exponentials for each class and time.
#include "seam/ctc_loss.h"

#include <algorithm>
#include <limits>

#include "core/parallel_for.h"
#include "kernels/ctc_loss_sequence.h"

namespace hearth::cpu {

namespace {

/// Whether all labels of a sequence are classes; reports the first one that is not.
template <class T>
bool has_valid_labels(const CtcSequence<T>& s, int64_t classes, FaultSlot* faults) {
  for (int64_t state = 1; state < s.states; state += 2)
    if (!s.is_valid(state)) return faults->report(Fault::kBadLabel, s.label(state), classes), false;
  return true;
}

/// Fills alpha `[times, width]` and returns the loss.
template <class T>
T forward(const CtcSequence<T>& s, T* alpha, int64_t width) {
  for (int64_t t = 0; t < s.times; ++t)
    for (int64_t i = 0; i < s.states; ++i)
      alpha[t * width + i] = s.alpha(t, i, alpha + std::max<int64_t>(t - 1, 0) * width);
  return s.loss(alpha + std::max<int64_t>(s.times - 1, 0) * width);
}

/// Writes the gradients of time t to `grad + t * stride`; `beta` is scratch memory for the states
/// of two times.
template <class T>
void backward(const CtcSequence<T>& s, const T* alpha, int64_t width, T loss, T factor, T* grad,
              int64_t classes, int64_t stride, T* beta) {
  for (int64_t t = s.times - 1; t >= 0; --t) {
    T* const current = beta + t % 2 * s.states;
    for (int64_t i = 0; i < s.states; ++i) current[i] = s.beta(t, i, beta + (t + 1) % 2 * s.states);
    T* const line = grad + t * stride;
    std::fill_n(line, classes, kNever<T>);
    for (int64_t i = 0; i < s.states; ++i) {
      T& sum = line[s.label(i)];
      sum = log_sum(sum, alpha[t * width + i] + current[i]);
    }
    for (int64_t c = 0; c < classes; ++c) line[c] = s.gradient(t, c, line[c], loss, factor);
  }
}

template <class T>
void forward_all(const CtcLossParams& params, Ctx& ctx) {
  const int64_t width = params.log_alpha.sizes[2], plane = params.log_alpha.sizes[1] * width;
  const CtcBatch<T> batch(params.sequences);
  std::fill_n(params.log_alpha.as<T>(), params.log_alpha.numel, kNever<T>);
  parallel_blocks(params.loss.numel, [&](int64_t n) {
    const CtcSequence<T> sequence(batch, n);
    T& loss = params.loss.as<T>()[n];
    loss = has_valid_labels(sequence, batch.classes, ctx.faults())
               ? forward(sequence, params.log_alpha.as<T>() + n * plane, width)
               : std::numeric_limits<T>::quiet_NaN();
  });
}

template <class T>
void backward_all(const CtcLossBackwardParams& params, Ctx& ctx) {
  const View& grad = params.grad_log_probs;
  const CtcBatch<T> sequences(params.sequences);
  const int64_t batch = grad.sizes[1], classes = grad.sizes[2];
  const int64_t width = params.log_alpha.sizes[2], plane = params.log_alpha.sizes[1] * width;
  const int slots = task_slots(batch);
  T* const betas = static_cast<T*>(ctx.scratch(size_t(slots * 2 * width) * sizeof(T)));
  std::fill_n(grad.as<T>(), grad.numel, T(0));
  parallel_tasks(batch, slots, [&](int64_t n, int slot) {
    const CtcSequence<T> sequence(sequences, n);
    const T loss = params.loss.as<const T>()[n];
    if ((params.zero_infinity && loss == -kNever<T>) ||
        !has_valid_labels(sequence, classes, ctx.faults()))
      return;
    backward(sequence, params.log_alpha.as<const T>() + n * plane, width, loss,
             params.grad_loss.as<const T>()[n * params.grad_loss.strides[0]],
             grad.as<T>() + n * classes, classes, batch * classes, betas + slot * 2 * width);
  });
}

}  // namespace

void run(const CtcLossParams& params, Ctx& ctx) {
  params.loss.dtype == kDouble ? forward_all<double>(params, ctx) : forward_all<float>(params, ctx);
}

void run(const CtcLossBackwardParams& params, Ctx& ctx) {
  params.loss.dtype == kDouble ? backward_all<double>(params, ctx)
                               : backward_all<float>(params, ctx);
}

}  // namespace hearth::cpu
