#pragma once

#include "kernels/cpu/batch_norm_layout.h"

namespace hearth::cpu {

/// The two passes of batch norm over whole tensors in one layout. x is the input; g, the gradient
/// of the output, may be undefined.
class BatchNormSweep {
 public:
  BatchNormSweep(const BatchNormLayout& layout, Ctx& ctx);

  /// For every channel: sums = sum of g, dots = sum of g * (x - shift); x - shift replaces a
  /// missing g.
  void accumulate(const BatchNormData& x, const BatchNormData& g, const double* shift, double* sums,
                  double* dots) const;
  /// y = (x - center) * slope + offset + g * gain, for coefficients per channel.
  void apply(const BatchNormData& x, const BatchNormData& g, const BatchNormData& y,
             const double* center, const double* slope, const double* offset,
             const double* gain) const;

 private:
  // Short rows are folded: `fold` of them form one row of `width` columns. There are `count` folded
  // rows, then one of `rest` columns.
  struct Rows {
    int64_t fold, width, count, rest;
  };
  Rows rows() const;

  /// Returns per-channel values as an array of `type`, repeated `times` times.
  void* repeated(const double* values, ScalarType type, int64_t times) const;
  /// Allocates scratch memory for the sums and dots of chunks: `[chunk][0: sums, 1: dots][column]`.
  double* partial_sums(int64_t chunks, int64_t columns) const;

  void accumulate_planes(const BatchNormData& x, const BatchNormData& g, const double* shift,
                         double* sums, double* dots) const;
  void accumulate_rows(const BatchNormData& x, const BatchNormData& g, const double* shift,
                       double* sums, double* dots) const;
  /// add and compute run the loops on `rows` rows from element `first`, in blocks if dtypes must be
  /// converted.
  void add(bool per_column, const BatchNormData& x, const BatchNormData& g, int64_t first,
           int64_t rows, int64_t width, const double* shift, double* sums, double* dots) const;
  void compute(bool per_column, const BatchNormData& x, const BatchNormData& g,
               const BatchNormData& y, int64_t first, int64_t rows, int64_t width,
               const BatchNormLine& line) const;

  const BatchNormLayout& layout_;
  Ctx& ctx_;
  const BatchNormLoops& loops_;
};

}  // namespace hearth::cpu
