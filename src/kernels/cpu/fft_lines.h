#pragma once

// Transforms of lines, several at once or a single long one.

#include "core/parallel_for.h"
#include "kernels/cpu/fft_kernels.h"
#include "kernels/cpu/fft_plan.h"
#include "seam/ctx.h"

namespace hearth::cpu {

/// The transform of a call, which is the same for all lines: from complex numbers or pairs to
/// complex numbers or pairs, with the steps that real lines need before or after it.
template <class T>
struct FftJob {
  using Plan = typename FftPlan<T>::Pointer;

  bool from_half = false, to_half = false;  // a half spectrum before or after the transform
  bool mirror = false;                      // also write the half that to_half leaves out
  bool by_pairs = false;                    // pairs of a real line are transformed
  int64_t n = 0, length = 0;                // of a line, of its transform
  T weight = 1;                             // of spectrum elements that stand for two
  FftPairs<T> read, write;
  Plan plan, real;  // the transform, the tables for real lines

  /// The numbers that a buffer has to hold.
  int64_t capacity() const;
  int64_t half() const { return n / 2 + 1; }
  int64_t read_count() const { return from_half ? half() : length; }

  /// Converts the half spectrum `in` to the transform's input, in the order of `slots`.
  void prepare(const FftLoops<T>& loops, T* in, const int64_t* slots, T* out) const;
  /// Writes a transform's result to `out`; overwrites `result`.
  void finish(const FftLoops<T>& loops, T* result, const FftLines<T>& out) const;
  /// Transforms a group of lines, at most as many as the loops have lanes, in two buffers.
  void run(const FftLoops<T>& loops, const FftLines<T>& in, const FftLines<T>& out, T* a,
           T* b) const;
};

/// `count` lines at distances of `apart` numbers; `lanes` is the number of lanes of the loops.
template <class T>
FftLines<T> fft_lines(T* data, int64_t apart, int count, int lanes, int64_t step, int64_t pair);

/// The transform of one long line at a time, in parallel.
template <class T>
class FftLongLine {
 public:
  /// The job's plan has the method kGrid, or is a convolution whose transforms use this method.
  FftLongLine(const FftJob<T>& job, Ctx& ctx);
  void run(const FftLines<T>& in, const FftLines<T>& out) const;

 private:
  void transform(const FftLines<T>& in, const FftPairs<T>& read, const FftLines<T>& out,
                 const FftPairs<T>& write) const;
  void grid(const FftPlan<T>& plan, const FftLines<T>& in, const FftPairs<T>& read,
            const FftLines<T>& out, const FftPairs<T>& write) const;
  template <class F>
  void for_groups(int64_t count, const F& f) const;
  FftLines<T> whole(T* numbers) const { return fft_lines(numbers, 0, 1, 1, 2, 1); }

  const FftJob<T>& job_;
  const FftLoops<T>&loops_, &single_;
  typename FftPlan<T>::Pointer matrix_;
  int slots_;
  int64_t buffer_;                                     // the size of a slot's buffer
  T *table_, *buffers_, *a_ = nullptr, *b_ = nullptr;  // the last two only if needed
};

/// The loops for one line at a time if `single`, else for as many lines as a vector has lanes.
template <class T>
const FftLoops<T>& fft_loops(bool single = false);

}  // namespace hearth::cpu
