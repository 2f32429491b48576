#include "seam/ctc_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();  // the logarithm of probability 0

/// log(exp(a) + exp(b) + exp(c)).
template <class T>
T log_sum(T a, T b, T c = kNever<T>) {
  const T largest = std::max({a, b, c});
  if (largest == kNever<T>) return a + b + c;  // NaN if one of them is
  return std::log(std::exp(a - largest) + std::exp(b - largest) + std::exp(c - largest)) + largest;
}

/// One sequence of a batch. Its states are the targets with a blank before, between and after them:
/// blank, target 0, blank, target 1, …, blank.
template <class T>
class Sequence {
 public:
  Sequence(const CtcSequences& batch, int64_t n)
      : blank(batch.blank),
        classes(batch.log_probs.sizes[2]),
        times(batch.input_lengths.as<const int64_t>()[n]),
        states(2 * batch.target_lengths.as<const int64_t>()[n] + 1),
        log_probs_(batch.log_probs.as<const T>() + n * batch.log_probs.strides[1]),
        time_stride_(batch.log_probs.strides[0]),
        class_stride_(batch.log_probs.strides[2]),
        targets_(batch.targets),
        start_(batch.starts.as<const int64_t>()[n]),
        stride_(batch.stride) {}

  int64_t label(int64_t state) const {
    if (state % 2 == 0) return blank;
    const int64_t index = start_ + state / 2 * stride_;
    return targets_.dtype == kInt ? targets_.as<const int32_t>()[index]
                                  : targets_.as<const int64_t>()[index];
  }
  T log_prob(int64_t time, int64_t label) const {
    return log_probs_[time * time_stride_ + label * class_stride_];
  }
  /// Whether an alignment may come from `state - 2`, without the blank between them.
  bool may_skip(int64_t state) const { return state > 1 && label(state) != label(state - 2); }
  bool is_valid(FaultSlot* faults) const {
    for (int64_t state = 1; state < states; state += 2)
      if (const int64_t c = label(state); c < 0 || c >= classes)
        return faults->report(Fault::kBadLabel, c, classes), false;
    return true;
  }

  const int64_t blank, classes, times, states;

 private:
  const T* const log_probs_;
  const int64_t time_stride_, class_stride_;
  const View& targets_;
  const int64_t start_, stride_;
};

/// Fills alpha `[times, width]`, the log probabilities of the alignments' beginnings that end in
/// each state, and returns the loss.
template <class T>
T forward(const Sequence<T>& s, T* alpha, int64_t width) {
  if (s.times == 0) return s.states == 1 ? T(0) : -kNever<T>;
  alpha[0] = s.log_prob(0, s.blank);
  if (s.states > 1) alpha[1] = s.log_prob(0, s.label(1));
  for (int64_t t = 1; t < s.times; ++t) {
    const T* const previous = alpha + (t - 1) * width;
    for (int64_t i = 0; i < s.states; ++i)
      alpha[t * width + i] = log_sum(previous[i], i > 0 ? previous[i - 1] : kNever<T>,
                                     s.may_skip(i) ? previous[i - 2] : kNever<T>) +
                             s.log_prob(t, s.label(i));
  }
  const T* const last = alpha + (s.times - 1) * width + s.states - 1;
  return -log_sum(last[0], s.states > 1 ? last[-1] : kNever<T>);
}

/// Computes beta, the log probabilities of the alignments' ends from each state at time t, from
/// `after`, those at time t + 1.
template <class T>
void step_back(const Sequence<T>& s, int64_t t, const T* after, T* beta) {
  for (int64_t i = 0; i < s.states; ++i) {
    const bool last = t + 1 == s.times;
    T sum = last && i + 2 >= s.states ? T(0) : kNever<T>;
    if (!last)
      sum = log_sum(after[i], i + 1 < s.states ? after[i + 1] : kNever<T>,
                    i + 2 < s.states && s.may_skip(i + 2) ? after[i + 2] : kNever<T>);
    beta[i] = sum + s.log_prob(t, s.label(i));
  }
}

/// Writes the gradients of time t to `grad + t * stride`; `beta` is scratch memory for two times.
template <class T>
void backward(const Sequence<T>& s, const T* alpha, int64_t width, T loss, T factor, T* grad,
              int64_t stride, T* beta) {
  for (int64_t t = s.times - 1; t >= 0; --t) {
    T* const current = beta + t % 2 * s.states;
    step_back(s, t, beta + (t + 1) % 2 * s.states, current);
    T* const line = grad + t * stride;
    std::fill_n(line, s.classes, kNever<T>);
    for (int64_t i = 0; i < s.states; ++i) {
      T& sum = line[s.label(i)];
      sum = log_sum(sum, alpha[t * width + i] + current[i]);
    }
    for (int64_t c = 0; c < s.classes; ++c) {
      const T log_prob = s.log_prob(t, c);
      line[c] = (std::exp(log_prob) - std::exp(line[c] + loss - log_prob)) * factor;
    }
  }
}

template <class T>
void forward_all(const CtcLossParams& params, Ctx& ctx) {
  const int64_t width = params.log_alpha.sizes[2], plane = params.log_alpha.sizes[1] * width;
  std::fill_n(params.log_alpha.as<T>(), params.log_alpha.numel, kNever<T>);
  parallel_blocks(params.loss.numel, [&](int64_t n) {
    const Sequence<T> sequence(params.sequences, n);
    T& loss = params.loss.as<T>()[n];
    loss = sequence.is_valid(ctx.faults())
               ? forward(sequence, params.log_alpha.as<T>() + n * plane, width)
               : std::numeric_limits<T>::quiet_NaN();
  });
}

template <class T>
void backward_all(const CtcLossBackwardParams& params, Ctx& ctx) {
  const View& grad = params.grad_log_probs;
  const int64_t batch = grad.sizes[1], classes = grad.sizes[2];
  const int64_t width = params.log_alpha.sizes[2], plane = params.log_alpha.sizes[1] * width;
  const int slots = task_slots(batch);
  T* const betas = static_cast<T*>(ctx.scratch(size_t(slots * 2 * width) * sizeof(T)));
  std::fill_n(grad.as<T>(), grad.numel, T(0));
  parallel_tasks(batch, slots, [&](int64_t n, int slot) {
    const Sequence<T> sequence(params.sequences, n);
    const T loss = params.loss.as<const T>()[n];
    if ((params.zero_infinity && loss == -kNever<T>) || !sequence.is_valid(ctx.faults())) return;
    backward(sequence, params.log_alpha.as<const T>() + n * plane, width, loss,
             params.grad_loss.as<const T>()[n * params.grad_loss.strides[0]],
             grad.as<T>() + n * classes, batch * classes, betas + slot * 2 * width);
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
