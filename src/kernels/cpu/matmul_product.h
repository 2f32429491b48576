#pragma once

#include "kernels/cpu/matmul_gemm.h"
#include "seam/matmul.h"

namespace hearth::cpu {

/// out = alpha * a @ b + beta * out for batches of matrices; all views are 3-D.
struct Product {
  View a, b, out;
  double alpha, beta;
  View row{};  // float or double; if defined, it replaces every row of out in the formula

  int64_t batch() const { return out.sizes[0]; }
  int64_t m() const { return out.sizes[1]; }
  int64_t n() const { return out.sizes[2]; }
  int64_t k() const { return a.sizes[2]; }
  double work() const { return double(m()) * double(n()) * double(k()); }
};

/// Turns a matrix into a batch of one matrix; returns batches unchanged.
View as_batch(const View& view);
/// Reduces a batch that repeats one matrix to a batch of one; returns other batches unchanged.
View first_of_broadcast(View view);
/// Repeats one matrix as a batch.
View broadcast(View one, int64_t batch);
/// A batch with rows and columns exchanged.
View transposed(View view);

/// Returns a contiguous view of this dtype and the sizes of `view`, whose data the caller must set;
/// a batch of stride 0 becomes one matrix.
View contiguous_like(const View& view, ScalarType dtype);
/// Returns contiguous_like(view, dtype) in scratch memory.
View scratch_like(const View& view, ScalarType dtype, Ctx& ctx);

/// Whether BLAS can read the batch's matrices in place, plain or transposed; sets `operand` to
/// the first one.
bool as_operand(const View& view, GemmOperand& operand);
/// Returns the view itself if BLAS can read it, else a contiguous copy.
View readable(const View& view, Ctx& ctx);

}  // namespace hearth::cpu
