#pragma once

#include "kernels/cpu/upsample_images.h"
#include "kernels/cpu/upsample_kernels.h"
#include "kernels/cpu/upsample_taps.h"
#include "seam/ctx.h"

namespace hearth::cpu {

/// The interpolation along one axis; without a table, nothing is interpolated. If `unit` is not 0,
/// results are multiplied by it and rounded to integers from 0 to 255.
template <class T>
struct UpsampleStep {
  const UpsampleTable<T>* table = nullptr;
  double unit = 0;
};

/// Interpolates images in two steps, along their rows and along their columns, a band of rows at a
/// time, so that the values between the steps stay in the cache.
template <class T>
class UpsamplePass {
 public:
  UpsamplePass(const UpsampleImages& in, const UpsampleImages& out, const UpsampleStep<T>& rows,
               const UpsampleStep<T>& columns);
  void run(Ctx& ctx) const;

 private:
  struct Scratch;
  struct Band {
    int64_t begin, end;        // output rows
    int64_t in_begin, in_end;  // the input rows that they read
  };
  Band band(int64_t index) const;
  size_t scratch_elements() const;
  Scratch scratch_at(char* memory) const;
  void run_band(int64_t image, const Band& band, const Scratch& scratch) const;
  void columns_first(int64_t image, const Band& band, const Scratch& scratch) const;
  void rows_first(int64_t image, const Band& band, const Scratch& scratch) const;
  /// Interpolates one row along its columns.
  void interpolate_columns(const T* row, T* to, const Scratch& scratch) const;
  /// Interpolates along the rows: combines the rows that row r of the output reads. `rows` points
  /// to row `first` of this step's input.
  void interpolate_rows(int64_t r, const T* rows, int64_t stride, int64_t first, int64_t width,
                        T* to, const Scratch& scratch) const;
  /// Returns a row of the input, in place or copied.
  const T* source(int64_t image, int64_t r, const Scratch& scratch) const;
  /// Returns the memory for row r of the output: its own, or scratch memory, which store() copies.
  T* target(int64_t image, int64_t r, const Scratch& scratch) const;
  void store(int64_t image, int64_t r, const Scratch& scratch) const;

  const UpsampleImages in_, out_;
  const UpsampleStep<T> rows_, columns_;
  const UpsampleLoops& loops_;
  const UpsampleRows reader_, writer_;
  const bool by_position_;  // the inner loop along columns is over the channels of one position
  UpsampleElements<T> elements_;
  bool columns_first_, copies_rows_;
  int64_t band_rows_, bands_;
  int64_t kept_rows_ = 0;  // the maximum number of rows of a band in Scratch::kept
};

}  // namespace hearth::cpu
