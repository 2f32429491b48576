#include "seam/matmul.h"

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
constexpr double kPartWork = 1 << 19;      // worth a thread of its own
constexpr double kHalfPartWork = 1 << 22;  // where the processor multiplies half types

constexpr double kMostParts = 32;      // of a product
constexpr int64_t kLeastSide = 32;     // of a block of the result
constexpr int64_t kSideMultiple = 16;  // the libraries' own blocks
constexpr int64_t kLeastSum = 2048;    // terms that are worth a partial sum
constexpr int64_t kMostSums = 8;

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

/// A contiguous view of this dtype and these sizes, without memory; a batch of stride 0 becomes one
/// matrix.
View contiguous_like(const View& view, ScalarType dtype) {
  View result = first_of_broadcast(view);
  result.dtype = dtype;
  result.strides[2] = 1;
  result.strides[1] = view.sizes[2];
  result.strides[0] = view.sizes[1] * view.sizes[2];
  return result;
}

/// The same in scratch memory.
View scratch_like(const View& view, ScalarType dtype, Ctx& ctx) {
  View result = contiguous_like(view, dtype);
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
View readable(const View& view, Ctx& ctx) {
  GemmOperand operand;
  if (as_operand(view, operand)) return view;
  const View packed = scratch_like(view, view.dtype, ctx);
  copy(first_of_broadcast(view), packed, ctx);
  return broadcast(packed, view.sizes[0]);
}

/// A batch of products cut into parts for threads: by its shape alone, so that its bits do not
/// depend on their number.
class Parts {
 public:
  Parts(const Product& p, double part_work) : p_(p), rows_(p.m()), columns_(p.n()) {
    const double wanted = std::min(kMostParts / double(p.batch()), p.work() / part_work);
    while (double(per_product()) < wanted) {
      int64_t& side = rows_ >= columns_ ? rows_ : columns_;
      if (side < 2 * kLeastSide) break;
      side = rounded_up((side + 1) / 2, kSideMultiple);
    }
    together_ = std::clamp<int64_t>(static_cast<int64_t>(part_work / (p.work() + 1)), 1, p.batch());
  }

  /// Calls f(part) for every part, in parallel.
  template <class F>
  void run(const F& f) const {
    const int64_t groups = (p_.batch() + together_ - 1) / together_, parts = per_product();
    parallel_for(0, groups * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(part(i / parts, i % parts));
    });
  }

 private:
  static int64_t rounded_up(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
  }
  int64_t blocks_across() const { return (p_.n() + columns_ - 1) / columns_; }
  int64_t per_product() const { return (p_.m() + rows_ - 1) / rows_ * blocks_across(); }

  Product part(int64_t group, int64_t block) const {
    Product result = p_;
    const auto cut = [](View& view, int d, int64_t i, int64_t size, int64_t whole) {
      if (size < whole) view = slice(view, d, i * size, std::min(whole, (i + 1) * size));
    };
    for (View* view : {&result.a, &result.b, &result.out})
      cut(*view, 0, group, together_, p_.batch());
    const int64_t down = block / blocks_across(), across = block % blocks_across();
    for (View* view : {&result.a, &result.out}) cut(*view, 1, down, rows_, p_.m());
    for (View* view : {&result.b, &result.out}) cut(*view, 2, across, columns_, p_.n());
    return result;
  }

  const Product& p_;
  int64_t rows_, columns_;  // of a block of the result
  int64_t together_ = 1;    // products in a part, where they are small
};

void multiply_one(const Gemm& gemm) {
  const bool dot = gemm.m == 1 && gemm.n == 1;
  const bool small = gemm.work() <= kBlasWork && gemm.m > 1 && gemm.n > 1;
  if (gemm.dtype != kFloat || ((dot || small) && blas::can_express(gemm)))
    blas::multiply(gemm);
  else
    onednn::multiply(gemm);
}

/// The first product of the batch; its operands are readable, and out's rows are contiguous.
Gemm gemm_of(const Product& p) {
  Gemm gemm;
  gemm.dtype = p.out.dtype;
  gemm.alpha = p.alpha;
  gemm.beta = p.beta;
  gemm.m = p.m();
  gemm.n = p.n();
  gemm.k = p.k();
  GemmOperand out;
  as_operand(p.a, gemm.a);
  as_operand(p.b, gemm.b);
  as_operand(p.out, out);
  gemm.out = p.out.data;
  gemm.ld_out = out.ld;
  return gemm;
}

/// The libraries' product of every matrix of a part, on this thread.
void multiply_part(const Product& p) {
  Gemm gemm = gemm_of(p);
  for (int64_t i = 0; i < p.batch(); ++i) {
    gemm.a.data = slice(p.a, 0, i, i + 1).data;
    gemm.b.data = slice(p.b, 0, i, i + 1).data;
    gemm.out = slice(p.out, 0, i, i + 1).data;
    multiply_one(gemm);
  }
}

/// out = the partial sums, added in their order, + beta * out.
template <class T>
void add_partial_sums(const Product& p, const char* partial, int64_t sums) {
  const View& out = p.out;
  for (int64_t i = 0; i < out.numel; ++i) {
    T sum(0);
    for (int64_t k = 0; k < sums; ++k)
      sum += reinterpret_cast<const T*>(partial)[k * out.numel + i];
    T& place = out.as<T>()[i / p.n() * out.strides[1] + i % p.n() * out.strides[2]];
    place = p.beta == 0 ? sum : sum + static_cast<T>(p.beta) * place;
  }
}

/// The sums of one small result over many terms, in a fixed number of partial sums.
bool multiply_by_sums(const Product& p, Ctx& ctx) {
  const bool fits = p.batch() == 1 && std::max(p.m(), p.n()) < 2 * kLeastSide &&
                    (p.out.dtype == kFloat || p.out.dtype == kDouble);
  const int64_t sums = std::min({kMostSums, p.k() / kLeastSum, int64_t(p.work() / kPartWork)});
  if (!fits || sums < 2) return false;
  Product whole = p;
  whole.out = contiguous_like(p.out, p.out.dtype);
  whole.beta = 0;
  const int64_t result_bytes = whole.out.numel * int64_t(element_size(p.out.dtype));
  char* const partial = static_cast<char*>(ctx.scratch(size_t(sums * result_bytes)));
  parallel_blocks(sums, [&](int64_t i) {
    Product part = whole;
    const int64_t begin = p.k() * i / sums, end = p.k() * (i + 1) / sums;
    part.a = slice(p.a, 2, begin, end);
    part.b = slice(p.b, 1, begin, end);
    part.out.data = partial + i * result_bytes;
    multiply_part(part);
  });
  p.out.dtype == kFloat ? add_partial_sums<float>(p, partial, sums)
                        : add_partial_sums<double>(p, partial, sums);
  return true;
}

/// Calls run(p) with the operands as libraries want them: rows (or columns) contiguous, and those
/// of the result.
template <class Run>
void with_readable_operands(const Product& product, Ctx& ctx, const Run& run) {
  Product p = product;
  GemmOperand out;
  bool in_place = as_operand(p.out, out);
  if (in_place && out.transposed) {  // out^T = b^T @ a^T
    p = {transposed(product.b), transposed(product.a), transposed(product.out), p.alpha, p.beta};
    in_place = as_operand(p.out, out) && !out.transposed;
  }
  const View target = p.out;
  if (!in_place) {
    p.out = scratch_like(target, target.dtype, ctx);
    if (p.beta != 0) copy(target, p.out, ctx);
  }
  p.a = readable(p.a, ctx);
  p.b = readable(p.b, ctx);
  run(p);
  if (!in_place) copy(p.out, target, ctx);
}

void multiply_by_library(const Product& product, Ctx& ctx) {
  with_readable_operands(product, ctx, [&](const Product& p) {
    if (p.out.dtype != kFloat && !blas::can_express(gemm_of(p)))
      multiply_loops(p.a, p.b, p.out, p.alpha, p.beta);
    else if (!multiply_by_sums(p, ctx))
      Parts(p, kPartWork).run(multiply_part);
  });
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
  if (p.alpha == 1 && onednn::has_matmul(p.out.dtype))
    return with_readable_operands(p, ctx, [](const Product& whole) {
      Parts(whole, kHalfPartWork).run([](const Product& part) {
        if (!onednn::matmul(part.a, part.b, part.out, part.beta))
          multiply_loops(part.a, part.b, part.out, part.alpha, part.beta);
      });
    });
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
