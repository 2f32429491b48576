#pragma once

#include <algorithm>
#include <vector>

#include "seam/recurrence.h"

namespace hearth {

/// The order of a recurrent layer's steps, and the positions of the sequences at each step.
class RecurrencePositions {
 public:
  explicit RecurrencePositions(const RecurrenceShape& shape) : shape_(shape), starts_{0} {
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
  /// The i-th step in the order of computation.
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
  /// Divides the sequences [begin, end) into ranges whose rows of the state before step t are
  /// adjacent in memory, and calls f(first, last + 1) for each range.
  template <class F>
  void for_adjacent(int64_t t, int64_t begin, int64_t end, const F& f) const {
    if (begin >= end) return;
    const int64_t earlier = previous(t);
    const int64_t split = std::clamp<int64_t>(earlier < 0 ? 0 : sequences(earlier), begin, end);
    if (begin < split) f(begin, split);
    if (split < end) f(split, end);
  }

 protected:
  const RecurrenceShape& shape_;

 private:
  std::vector<int64_t> starts_;
};

}  // namespace hearth
