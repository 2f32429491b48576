#pragma once

// What both passes of a recurrent layer share: its steps, packed weights, and their distribution
// over threads.

#include <algorithm>
#include <vector>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/recurrence_kernels.h"
#include "seam/recurrence.h"

namespace hearth::cpu {

template <class T>
const RecurrenceLoops& recurrence_loops() {
  const RecurrenceTable& table = HEARTH_ISA_TABLE(recurrence_table);
  if constexpr (std::is_same_v<T, double>)
    return table.f64;
  else
    return table.f32;
}

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

/// A matrix in panels of columns, for products with few rows; several groups of columns may each
/// start a panel of their own.
template <class T>
class Panels {
 public:
  /// Element (term, column) of group g is data[(g * columns + column) * column_stride + term *
  /// term_stride].
  Panels(const T* data, int64_t groups, int64_t columns, int64_t column_stride, int64_t terms,
         int64_t term_stride, Ctx& ctx)
      : blocks_((columns + width_ - 1) / width_), columns_(columns), terms_(terms) {
    const int64_t size = terms * width_;
    T* const panels = static_cast<T*>(ctx.scratch(size_t(groups * blocks_ * size) * sizeof(T)));
    panels_ = panels;
    parallel_for(0, groups * blocks_, 8, [=, this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t start = i % blocks_ * width_, count = std::min(width_, columns - start);
        pack(data + (i / blocks_ * columns + start) * column_stride, count, column_stride,
             term_stride, panels + i * size);
      }
    });
  }

  int64_t blocks() const { return blocks_; }
  /// The first column of a block; that of the next one.
  int64_t column(int64_t block) const { return std::min(columns_, block * width_); }

  /// out (+)= a @ the columns of a group's block; out points to the first of them.
  void multiply(const T* a, int64_t rows, int64_t ld, int64_t group, int64_t block, T* out,
                int64_t ld_out, bool add) const {
    loops_.multiply(a, ld, rows, panels_ + (group * blocks_ + block) * terms_ * width_, terms_, out,
                    ld_out, column(block + 1) - column(block), add);
  }

 private:
  void pack(const T* from, int64_t count, int64_t column_stride, int64_t term_stride,
            T* panel) const {
    for (int64_t k = 0; k < terms_; ++k, panel += width_) {
      for (int64_t j = 0; j < count; ++j) panel[j] = from[j * column_stride + k * term_stride];
      std::fill(panel + count, panel + width_, T(0));
    }
  }

  const RecurrenceLoops& loops_ = recurrence_loops<T>();
  const int64_t width_ = loops_.columns;
  int64_t blocks_, columns_, terms_;
  const T* panels_ = nullptr;
};

}  // namespace hearth::cpu
