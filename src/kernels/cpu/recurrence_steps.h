#pragma once

// The steps of a recurrent layer, and their distribution over threads.

#include <algorithm>
#include <vector>

#include "core/parallel_for.h"
#include "seam/recurrence.h"

namespace hearth::cpu {

/// The part of a step that one task computes: some sequences, and one of several equal slices of
/// the columns of every matrix. Results do not depend on the division into parts: each element is
/// computed by the same operations.
struct RecurrencePart {
  int64_t begin, end;  // sequences
  int64_t slice = 0, slices = 1;

  /// Of `blocks` blocks of columns, [first_block, end_block) are the slice's.
  int64_t first_block(int64_t blocks) const { return blocks * slice / slices; }
  int64_t end_block(int64_t blocks) const { return blocks * (slice + 1) / slices; }
};

/// The order of the steps, and the positions of their elements.
class RecurrenceSteps {
 public:
  explicit RecurrenceSteps(const RecurrenceShape& shape) : shape_(shape), starts_{0} {
    for (int64_t t = 0; t < shape.steps; ++t) starts_.push_back(starts_.back() + sequences(t));
  }
  /// The number of sequences at step t.
  int64_t sequences(int64_t t) const {
    return shape_.batch_sizes.empty() ? shape_.batch : shape_.batch_sizes[size_t(t)];
  }
  int64_t position(int64_t t, int64_t sequence) const { return starts_[size_t(t)] + sequence; }
  int64_t positions() const { return starts_.back(); }
  /// The step before step t in the order of computation, or -1.
  int64_t previous(int64_t t) const {
    if (!shape_.reverse) return t - 1;
    return t + 1 < shape_.steps ? t + 1 : -1;
  }
  /// The step that is computed i-th.
  int64_t step(int64_t i) const { return shape_.reverse ? shape_.steps - 1 - i : i; }
  /// The last step of a sequence in the order of computation.
  int64_t last_of(int64_t sequence) const {
    int64_t t = 0;
    if (!shape_.reverse)
      for (t = shape_.steps - 1; sequences(t) <= sequence;) --t;
    return t;
  }

  /// Returns row `sequence` of the state before step t: a row of `states`, which has a row of
  /// `width` elements for every position, or of `initial`.
  template <class T>
  const T* previous_row(int64_t t, int64_t sequence, const T* states, const T* initial,
                        int64_t width) const {
    const int64_t earlier = previous(t);
    return earlier >= 0 && sequence < sequences(earlier)
               ? states + position(earlier, sequence) * width
               : initial + sequence * width;
  }
  /// Calls f(first, end) for the ranges of sequences [begin, end) whose rows of the state before
  /// step t are adjacent in memory.
  template <class F>
  void for_adjacent(int64_t t, int64_t begin, int64_t end, const F& f) const {
    if (begin >= end) return;
    const int64_t earlier = previous(t);
    const int64_t split = std::clamp<int64_t>(earlier < 0 ? 0 : sequences(earlier), begin, end);
    if (begin < split) f(begin, split);
    if (split < end) f(split, end);
  }

  /// Calls f(step, phase, part) for all steps, in the order of computation or backwards, and for
  /// the phases of each. Phase p + 1 of a sequence reads the results of all columns of phase p.
  template <class F>
  void run(bool backwards, int phases, const F& f) const {
    const auto nth_step = [&](int64_t i) { return step(backwards ? shape_.steps - 1 - i : i); };
    const int threads = get_num_threads();
    if (threads == 1 || shape_.batch >= kSequencesOfThread * threads)
      return parallel_ranges(shape_.batch, kSequencesOfThread, [&](int64_t begin, int64_t end) {
        for (int64_t i = 0; i < shape_.steps; ++i)
          for (int phase = 0; phase < phases; ++phase)
            f(nth_step(i), phase, RecurrencePart{begin, end});
      });
    const double work =
        double(shape_.batch) * double(shape_.hidden) * double(shape_.gates() * shape_.state);
    const int64_t slices = std::clamp<int64_t>(int64_t(work / kWorkOfSlice), 1, threads);
    for (int64_t i = 0; i < shape_.steps; ++i)
      for (int phase = 0; phase < phases; ++phase)
        parallel_tasks(slices, int(slices), [&](int64_t slice, int) {
          f(nth_step(i), phase, RecurrencePart{0, shape_.batch, slice, slices});
        });
  }

 private:
  static constexpr int64_t kSequencesOfThread = 4;
  static constexpr double kWorkOfSlice = 1 << 16;  // multiplications in a step

  const RecurrenceShape& shape_;
  std::vector<int64_t> starts_;
};

}  // namespace hearth::cpu
