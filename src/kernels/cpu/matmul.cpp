#include "kernels/matmul.h"

#include <algorithm>
#include <utility>

#include "core/parallel_for.h"
#include "core/threads.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/matmul_loops.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

// Multiplications below which each way is the fastest (measured by bench/matmul.cpp).
constexpr double kLoopWork = 64;
constexpr double kBlasWork = 10000;
constexpr double kThreadWork = 1 << 19;  // worth a thread of its own
constexpr int64_t kBlockRows =
    64;  // what one thread computes, so that results do not depend on their number

/// out = alpha * a @ b + beta * out for batches of matrices; all views are 3-D.
struct Product {
  View a, b, out;
  double alpha, beta;

  int64_t batch() const { return out.sizes[0]; }
  int64_t m() const { return out.sizes[1]; }
  int64_t n() const { return out.sizes[2]; }
  int64_t k() const { return a.sizes[2]; }
  double work() const { return double(m()) * double(n()) * double(k()); }
};

/// A matrix as a batch of one.
View as_batch(const View& view) {
  View result = view;
  if (view.dim == 3) return result;
  result.dim = 3;
  result.sizes[0] = 1;
  result.strides[0] = 0;
  std::copy_n(view.sizes, 2, result.sizes + 1);
  std::copy_n(view.strides, 2, result.strides + 1);
  return result;
}

View transposed(View view) {
  std::swap(view.sizes[1], view.sizes[2]);
  std::swap(view.strides[1], view.strides[2]);
  return view;
}

bool same_memory(const View& a, const View& b) {
  return a.data == b.data && std::equal(a.strides, a.strides + a.dim, b.strides);
}

/// One matrix in place of a batch that repeats it.
View first_of_broadcast(View view) {
  if (view.strides[0] != 0 || view.sizes[0] <= 1) return view;
  view.numel /= view.sizes[0];
  view.sizes[0] = 1;
  return view;
}

/// A contiguous view of this dtype and these sizes in scratch memory; a batch of stride 0 becomes
/// one matrix.
View scratch_like(const View& view, ScalarType dtype, Ctx& ctx) {
  View result = first_of_broadcast(view);
  result.dtype = dtype;
  result.strides[2] = 1;
  result.strides[1] = view.sizes[2];
  result.strides[0] = view.sizes[1] * view.sizes[2];
  result.data = ctx.scratch(size_t(result.numel) * element_size(dtype));
  return result;
}

/// One matrix as a batch that repeats it.
View broadcast(View one, int64_t batch) {
  if (one.sizes[0] == batch) return one;
  one.numel *= batch;
  one.sizes[0] = batch;
  one.strides[0] = 0;
  return one;
}

/// Whether BLAS can read a matrix of the batch as it lies, plain or transposed.
bool as_operand(const View& view, GemmOperand& operand) {
  const int64_t rows = view.sizes[1], columns = view.sizes[2];
  const int64_t row = view.strides[1], column = view.strides[2];
  operand.data = view.data;
  if ((column == 1 || columns == 1) && (rows == 1 || row >= columns)) {
    operand.transposed = false;
    operand.ld = rows == 1 ? columns : row;
    return true;
  }
  operand.transposed = true;
  operand.ld = columns == 1 ? rows : column;
  return (row == 1 || rows == 1) && (columns == 1 || column >= rows);
}

/// The view itself if BLAS can read it, else a contiguous copy.
View readable(const View& view, GemmOperand& operand, Ctx& ctx) {
  if (as_operand(view, operand)) return view;
  const View packed = scratch_like(view, view.dtype, ctx);
  copy(first_of_broadcast(view), packed, ctx);
  as_operand(packed, operand);
  return broadcast(packed, view.sizes[0]);
}

const void* element_at(const GemmOperand& operand, int64_t row, int64_t column, ScalarType dtype) {
  const int64_t offset = operand.transposed ? column * operand.ld + row : row * operand.ld + column;
  return static_cast<const char*>(operand.data) +
         offset * static_cast<int64_t>(element_size(dtype));
}

/// BLAS on blocks of rows, or of columns if there are more of them, in parallel.
void multiply_blocks(const Gemm& whole) {
  const bool by_rows = whole.m >= whole.n;
  const int64_t size = by_rows ? whole.m : whole.n;
  const int64_t blocks = (size + kBlockRows - 1) / kBlockRows;
  const double block_work = whole.work() / double(blocks);
  const int64_t grain = static_cast<int64_t>(kThreadWork / block_work) + 1;
  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kBlockRows, count = std::min(size, end * kBlockRows) - first;
    const int64_t row = by_rows ? first : 0, column = by_rows ? 0 : first;
    Gemm part = whole;
    (by_rows ? part.m : part.n) = count;
    part.a.data = element_at(whole.a, row, 0, whole.dtype);
    part.b.data = element_at(whole.b, 0, column, whole.dtype);
    const GemmOperand out{whole.out, whole.ld_out, false};
    part.out = const_cast<void*>(element_at(out, row, column, whole.dtype));
    blas::multiply(part);
  });
}

void multiply_one(const Gemm& gemm) {
  if (gemm.dtype != kFloat) return multiply_blocks(gemm);
  const bool dot = gemm.m == 1 && gemm.n == 1;
  const bool small = gemm.work() <= kBlasWork && gemm.m > 1 && gemm.n > 1;
  if ((dot || small) && blas::can_express(gemm))
    blas::multiply(gemm);
  else
    onednn::multiply(gemm);
}

/// The libraries' product of every matrix of the batch; out's rows are contiguous.
void multiply_batch(const Product& p, const Gemm& first) {
  const auto bytes = static_cast<int64_t>(element_size(p.out.dtype));
  const auto multiply_range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Gemm gemm = first;
      gemm.a.data = static_cast<const char*>(first.a.data) + i * p.a.strides[0] * bytes;
      gemm.b.data = static_cast<const char*>(first.b.data) + i * p.b.strides[0] * bytes;
      gemm.out = static_cast<char*>(first.out) + i * p.out.strides[0] * bytes;
      multiply_one(gemm);
    }
  };
  if (p.batch() == 1 || p.batch() < get_num_threads()) return multiply_range(0, p.batch());
  parallel_for(0, p.batch(), static_cast<int64_t>(kThreadWork / p.work()) + 1, multiply_range);
}

/// The product by BLAS or oneDNN, which want contiguous rows (or columns) of everything.
void multiply_by_library(const Product& product, Ctx& ctx) {
  Product p = product;
  Gemm gemm;
  gemm.dtype = p.out.dtype;
  gemm.alpha = p.alpha;
  gemm.beta = p.beta;
  GemmOperand out;
  bool in_place = as_operand(p.out, out);
  if (in_place && out.transposed) {  // out^T = b^T @ a^T
    p = {transposed(product.b), transposed(product.a), transposed(product.out), p.alpha, p.beta};
    in_place = as_operand(p.out, out);
  }
  if (!in_place) {
    p.out = scratch_like(p.out, p.out.dtype, ctx);
    if (p.beta != 0) copy(product.out, p.out, ctx);
    as_operand(p.out, out);
  }
  p.a = readable(p.a, gemm.a, ctx);
  p.b = readable(p.b, gemm.b, ctx);
  gemm.m = p.m();
  gemm.n = p.n();
  gemm.k = p.k();
  gemm.out = p.out.data;
  gemm.ld_out = out.ld;
  if (gemm.dtype == kFloat || blas::can_express(gemm))
    multiply_batch(p, gemm);
  else
    multiply_loops(p.a, p.b, p.out, p.alpha, p.beta);
  if (!in_place) copy(p.out, product.out, ctx);
}

/// Our loops, with b's rows made contiguous where that pays.
void multiply_by_loops(const Product& p, Ctx& ctx) {
  if (p.b.strides[2] == 1 || p.m() == 1 || p.work() <= kBlasWork)
    return multiply_loops(p.a, p.b, p.out, p.alpha, p.beta);
  const View rows = scratch_like(p.b, p.b.dtype, ctx);
  copy(first_of_broadcast(p.b), rows, ctx);
  multiply_loops(p.a, broadcast(rows, p.batch()), p.out, p.alpha, p.beta);
}

/// Half types: oneDNN where the processor can, else float32 copies.
void multiply_halfs(const Product& p, Ctx& ctx) {
  if (p.alpha == 1 && onednn::has_matmul(p.out.dtype) && onednn::matmul(p.a, p.b, p.out, p.beta))
    return;
  const auto in_float = [&](const View& view) {
    const View result = scratch_like(view, kFloat, ctx);
    copy(first_of_broadcast(view), result, ctx);
    return broadcast(result, view.sizes[0]);
  };
  const View sums = p.beta == 0 ? scratch_like(p.out, kFloat, ctx) : in_float(p.out);
  multiply_by_library({in_float(p.a), in_float(p.b), sums, p.alpha, p.beta}, ctx);
  copy(sums, p.out, ctx);
}

void multiply(const Product& p, Ctx& ctx) {
  const ScalarType dtype = p.out.dtype;
  if (p.work() <= kLoopWork || is_integral(dtype, true)) return multiply_by_loops(p, ctx);
  if (is_reduced_float(dtype)) return multiply_halfs(p, ctx);
  multiply_by_library(p, ctx);
}

/// A batch of matrices times one matrix is one tall matrix times it.
void join_batch(Product& p) {
  const auto joins = [](const View& view) {
    return view.strides[0] == view.sizes[1] * view.strides[1];
  };
  if (p.batch() <= 1 || p.b.strides[0] != 0 || !joins(p.a) || !joins(p.out)) return;
  const auto join = [](View& view) {
    view.sizes[1] *= view.sizes[0];
    view.sizes[0] = 1;
  };
  join(p.a);
  join(p.out);
  p.b = first_of_broadcast(p.b);
}

}  // namespace

void run(const MatmulParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const bool keeps = params.c.defined() && params.beta != 0;
  if (keeps && !same_memory(params.c, params.out)) copy(params.c, params.out, ctx);
  Product p{as_batch(params.a), as_batch(params.b), as_batch(params.out), params.alpha,
            keeps ? params.beta : 0};
  join_batch(p);
  multiply(p, ctx);
}

}  // namespace hearth::cpu
