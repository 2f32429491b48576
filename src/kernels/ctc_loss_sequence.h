#pragma once

// Alignments of sequences for ctc_loss, for CPU and CUDA kernels.

#include <cmath>
#include <cstdint>
#include <limits>

#include "functors/hd.h"
#include "seam/ctc_loss.h"

namespace hearth {

/// The logarithm of probability 0.
template <class T>
inline constexpr T kNever = -std::numeric_limits<T>::infinity();

/// log(exp(a) + exp(b) + exp(c)).
template <class T>
HEARTH_FN T log_sum(T a, T b, T c = kNever<T>) {
  const T larger = a > b ? a : b, largest = c > larger ? c : larger;
  if (largest == kNever<T>) return a + b + c;  // NaN if one argument is NaN
  return std::log(std::exp(a - largest) + std::exp(b - largest) + std::exp(c - largest)) + largest;
}

/// The addresses, lengths and strides (in elements) of a batch's sequences, and the classes.
template <class T>
struct CtcBatch {
  const T* log_probs;
  const void* targets;
  const int64_t *input_lengths, *target_lengths, *starts;
  int64_t time_stride, batch_stride, class_stride, target_stride, blank, classes;
  bool has_int32_targets;

  explicit CtcBatch(const CtcSequences& s)
      : log_probs(s.log_probs.as<const T>()),
        targets(s.targets.data),
        input_lengths(s.input_lengths.as<const int64_t>()),
        target_lengths(s.target_lengths.as<const int64_t>()),
        starts(s.starts.as<const int64_t>()),
        time_stride(s.log_probs.strides[0]),
        batch_stride(s.log_probs.strides[1]),
        class_stride(s.log_probs.strides[2]),
        target_stride(s.stride),
        blank(s.blank),
        classes(s.log_probs.sizes[2]),
        has_int32_targets(s.targets.dtype == kInt) {}
};

/// One sequence of a batch. Its states are the targets with a blank before, between and after them:
/// blank, target 0, blank, target 1, …, blank. An alignment has one state for each time; from one
/// time to the next, it keeps its state, takes the next one, or skips a blank.
template <class T>
class CtcSequence {
 public:
  HEARTH_FN CtcSequence(const CtcBatch<T>& batch, int64_t n)
      : times(batch.input_lengths[n]),
        states(2 * batch.target_lengths[n] + 1),
        batch_(batch),
        log_probs_(batch.log_probs + n * batch.batch_stride),
        start_(batch.starts[n]) {}

  HEARTH_FN int64_t label(int64_t state) const {
    if (state % 2 == 0) return batch_.blank;
    const int64_t index = start_ + state / 2 * batch_.target_stride;
    return batch_.has_int32_targets ? static_cast<const int32_t*>(batch_.targets)[index]
                                    : static_cast<const int64_t*>(batch_.targets)[index];
  }
  HEARTH_FN bool is_valid(int64_t state) const {
    const int64_t c = label(state);
    return c >= 0 && c < batch_.classes;
  }
  HEARTH_FN T log_prob(int64_t time, int64_t c) const {
    return log_probs_[time * batch_.time_stride + c * batch_.class_stride];
  }
  /// Whether an alignment may come from `state - 2`, without the blank between them.
  HEARTH_FN bool may_skip(int64_t state) const {
    return state > 1 && label(state) != label(state - 2);
  }

  /// The log probability of the alignments' beginnings that end in state i at time t; `before` has
  /// these numbers at time t - 1.
  HEARTH_FN T alpha(int64_t t, int64_t i, const T* before) const {
    if (t == 0) return i < 2 ? log_prob(0, label(i)) : kNever<T>;
    return log_sum(before[i], i > 0 ? before[i - 1] : kNever<T>,
                   may_skip(i) ? before[i - 2] : kNever<T>) +
           log_prob(t, label(i));
  }
  /// The log probability of the alignments' ends from state i at time t; `after` has these numbers
  /// at time t + 1.
  HEARTH_FN T beta(int64_t t, int64_t i, const T* after) const {
    T sum = i + 2 >= states ? T(0) : kNever<T>;
    if (t + 1 < times)
      sum = log_sum(after[i], i + 1 < states ? after[i + 1] : kNever<T>,
                    i + 2 < states && may_skip(i + 2) ? after[i + 2] : kNever<T>);
    return sum + log_prob(t, label(i));
  }
  /// The loss, given alpha of the last time.
  HEARTH_FN T loss(const T* last) const {
    if (times == 0) return states == 1 ? T(0) : -kNever<T>;
    return -log_sum(last[states - 1], states > 1 ? last[states - 2] : kNever<T>);
  }
  /// The gradient of class c at time t; `posterior` is the logarithm of the sum of exp(alpha +
  /// beta) over the states of the class. alpha and beta both contain log_prob(t, c).
  HEARTH_FN T gradient(int64_t t, int64_t c, T posterior, T loss, T factor) const {
    const T value = log_prob(t, c);
    return (std::exp(value) - std::exp(posterior + loss - value)) * factor;
  }

  const int64_t times, states;

 private:
  const CtcBatch<T>& batch_;
  const T* const log_probs_;
  const int64_t start_;
};

}  // namespace hearth
