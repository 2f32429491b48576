#pragma once

// The steps of a recurrent layer, and their distribution over threads.

#include <algorithm>
#include <vector>

#include "core/parallel_for.h"
#include "seam/recurrence.h"

namespace hearth::cpu {

/// Some of the sequences, and one of several equal slices of the columns of every matrix. Results
/// do not depend on how the work is divided: each element is computed by the same operations.
struct RecurrencePart {
  int64_t begin, end;  // sequences
  int64_t slice = 0, slices = 1;

  /// The first of the slice's blocks of columns, out of `blocks`; that of the next slice.
  int64_t first(int64_t blocks) const { return blocks * slice / slices; }
  int64_t last(int64_t blocks) const { return blocks * (slice + 1) / slices; }
};

/// The positions of the steps.
class RecurrenceSteps {
 public:
  explicit RecurrenceSteps(const RecurrenceShape& shape) : shape_(shape), starts_{0} {
    for (int64_t t = 0; t < shape.steps; ++t) starts_.push_back(starts_.back() + sequences(t));
  }
  /// The sequences that step t has.
  int64_t sequences(int64_t t) const {
    return shape_.batch_sizes.empty() ? shape_.batch : shape_.batch_sizes[size_t(t)];
  }
  int64_t position(int64_t t, int64_t sequence) const { return starts_[size_t(t)] + sequence; }
  int64_t positions() const { return starts_.back(); }
  /// The step before step t in the order of computation, or -1.
  int64_t before(int64_t t) const {
    if (!shape_.reverse) return t - 1;
    return t + 1 < shape_.steps ? t + 1 : -1;
  }
  /// The step that is computed i-th.
  int64_t at(int64_t i) const { return shape_.reverse ? shape_.steps - 1 - i : i; }
  /// The last step of a sequence in the order of computation.
  int64_t last_of(int64_t sequence) const {
    int64_t t = 0;
    if (!shape_.reverse)
      for (t = shape_.steps - 1; sequences(t) <= sequence;) --t;
    return t;
  }

  /// Row `sequence` of the state before step t: of `states`, which has a row of `width` elements
  /// for every position, or of `initial`.
  template <class T>
  const T* row_before(int64_t t, int64_t sequence, const T* states, const T* initial,
                      int64_t width) const {
    const int64_t earlier = before(t);
    return earlier >= 0 && sequence < sequences(earlier)
               ? states + position(earlier, sequence) * width
               : initial + sequence * width;
  }
  /// Calls f(first, end) for the ranges of [begin, end) whose rows before step t are neighbours.
  template <class F>
  void for_neighbours(int64_t t, int64_t begin, int64_t end, const F& f) const {
    if (begin >= end) return;
    const int64_t earlier = before(t);
    const int64_t split = std::clamp<int64_t>(earlier < 0 ? 0 : sequences(earlier), begin, end);
    if (begin < split) f(begin, split);
    if (split < end) f(split, end);
  }

  /// Calls f(step, phase, part) for all steps, in the order of computation or backwards, and for
  /// the phases of each. Phase p + 1 of a sequence reads what all columns of phase p have written.
  template <class F>
  void run(bool backwards, int phases, const F& f) const {
    const auto step = [&](int64_t i) { return at(backwards ? shape_.steps - 1 - i : i); };
    const int threads = get_num_threads();
    if (threads == 1 || shape_.batch >= kSequencesOfThread * threads)
      return parallel_ranges(shape_.batch, kSequencesOfThread, [&](int64_t begin, int64_t end) {
        for (int64_t i = 0; i < shape_.steps; ++i)
          for (int phase = 0; phase < phases; ++phase)
            f(step(i), phase, RecurrencePart{begin, end});
      });
    const double work =
        double(shape_.batch) * double(shape_.hidden) * double(shape_.gates() * shape_.state);
    const int64_t slices = std::clamp<int64_t>(int64_t(work / kWorkOfSlice), 1, threads);
    for (int64_t i = 0; i < shape_.steps; ++i)
      for (int phase = 0; phase < phases; ++phase)
        parallel_tasks(slices, int(slices), [&](int64_t slice, int) {
          f(step(i), phase, RecurrencePart{0, shape_.batch, slice, slices});
        });
  }

 private:
  static constexpr int64_t kSequencesOfThread = 4;
  static constexpr double kWorkOfSlice = 1 << 16;  // multiplications of a step

  const RecurrenceShape& shape_;
  std::vector<int64_t> starts_;
};

}  // namespace hearth::cpu
