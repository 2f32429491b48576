#pragma once

// The steps of a recurrent layer, and their distribution over threads. With four sequences or more
// for each thread, or only one thread, a thread runs all steps of its sequences. Else the threads
// divide the columns of each step and wait for each other after each phase, which bounds small
// layers.

#include <algorithm>
#include <vector>

#include "core/parallel_for.h"
#include "kernels/recurrence_positions.h"

namespace hearth::cpu {

/// The part of a step that one task computes: some sequences, and one of several equal slices of
/// the columns of every matrix. Results do not depend on the division into parts: each element is
/// computed by the same operations.
struct RecurrencePart {
  int64_t begin, end;  // sequences
  int64_t slice = 0, slices = 1;

  /// The slice has the blocks [first_block, end_block) of `blocks` blocks of columns.
  int64_t first_block(int64_t blocks) const { return blocks * slice / slices; }
  int64_t end_block(int64_t blocks) const { return blocks * (slice + 1) / slices; }
};

/// The positions of a layer's sequences at each step, and the loop over its steps.
class RecurrenceSteps : public RecurrencePositions {
 public:
  using RecurrencePositions::RecurrencePositions;

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
};

}  // namespace hearth::cpu
