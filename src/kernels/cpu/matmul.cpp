// out = alpha * a @ b + beta * c for batches of matrices, by BLAS, oneDNN or matmul_loops.cpp. A
// task is a block of a large result, a group of small products or, for a small result with long
// sums, one of up to 8 partial sums; the shape alone decides. Bound by the multiplications; a
// product with a vector by reading the matrix.
#include "seam/matmul.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/parallel_for.h"
#include "core/threads.h"
#include "kernels/cpu/matmul_gemm.h"
#include "kernels/cpu/matmul_loops.h"
#include "kernels/cpu/matmul_product.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

// Numbers of scalar multiplications, measured by bench/kernels/matmul.cpp.
constexpr double kLoopWork = 64;           // up to this, the loops are fastest
constexpr double kStridedLoopWork = 1e4;   // up to this, the loops need no copy of a strided b
constexpr double kHalfWork = 1 << 16;      // up to this, half types are faster as float32
constexpr double kTaskWork = 1 << 19;      // at least this in a task
constexpr double kHalfTaskWork = 1 << 22;  // the same if the processor multiplies half types
constexpr double kShortWork = 1 << 28;     // up to this, a product takes some milliseconds

constexpr double kMaxTasks = 32;         // of a batch
constexpr int64_t kMinSide = 32;         // of a block of the result
constexpr int64_t kSideMultiple = 16;    // the libraries' own block size
constexpr int64_t kMinRowsForCopy = 64;  // of the result, to copy a transposed b with long rows
constexpr int64_t kManyRows = 512;  // of the result, to copy b with short rows, or to add one row
constexpr int64_t kMinTermsForCopy = 64;  // of each sum, to copy a transposed b with short rows
constexpr int64_t kMinTerms = 2048;       // of a partial sum
constexpr int64_t kMaxSums = 8;

bool same_memory(const View& a, const View& b) {
  return a.data == b.data && std::equal(a.strides, a.strides + a.dim, b.strides);
}

/// A batch of products split into tasks: blocks of large results, groups of small products. The
/// split depends on the shape alone, so that results do not depend on the number of threads.
class Tasks {
 public:
  Tasks(const Product& p, double task_work) : p_(p), rows_(p.m()), columns_(p.n()) {
    const double wanted_blocks = std::min(kMaxTasks / double(p.batch()), p.work() / task_work);
    while (double(blocks_per_product()) < wanted_blocks) {
      int64_t& side = rows_ >= columns_ ? rows_ : columns_;
      if (side < 2 * kMinSide) break;
      side = rounded_up((side + 1) / 2, kSideMultiple);
    }
    group_ = std::clamp<int64_t>(static_cast<int64_t>(task_work / (p.work() + 1)), 1, p.batch());
  }

  /// Calls f(task's product) for every task, in parallel.
  template <class F>
  void run(const F& f) const {
    const int64_t groups = (p_.batch() + group_ - 1) / group_, blocks = blocks_per_product();
    parallel_for(0, groups * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(task(i / blocks, i % blocks));
    });
  }

 private:
  static int64_t rounded_up(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
  }
  int64_t blocks_across() const { return (p_.n() + columns_ - 1) / columns_; }
  int64_t blocks_per_product() const { return (p_.m() + rows_ - 1) / rows_ * blocks_across(); }

  Product task(int64_t group, int64_t block) const {
    Product result = p_;
    const auto cut = [](View& view, int d, int64_t i, int64_t size, int64_t whole) {
      if (size < whole) view = slice(view, d, i * size, std::min(whole, (i + 1) * size));
    };
    for (View* view : {&result.a, &result.b, &result.out}) cut(*view, 0, group, group_, p_.batch());
    const int64_t block_row = block / blocks_across(), block_column = block % blocks_across();
    for (View* view : {&result.a, &result.out}) cut(*view, 1, block_row, rows_, p_.m());
    for (View* view : {&result.b, &result.out, &result.row})
      if (view->defined()) cut(*view, 2, block_column, columns_, p_.n());
    return result;
  }

  const Product& p_;
  int64_t rows_, columns_;  // of a block of the result
  int64_t group_ = 1;       // small products per task
};

/// Returns the first product of a batch whose operands BLAS can read and whose out has contiguous
/// rows.
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

/// Sets the rows of out to p.row, if it is defined.
void set_rows(const Product& p) {
  if (!p.row.defined()) return;
  const size_t element = element_size(p.out.dtype);
  char* const out = p.out.as<char>();
  for (int64_t i = 0; i < p.m(); ++i)
    std::memcpy(out + size_t(i * p.out.strides[1]) * element, p.row.data, size_t(p.n()) * element);
}

/// Adds beta times p.row to the rows of out.
template <class T>
void add_to_rows(const Product& p) {
  constexpr int kLanes = 32 / sizeof(T);
  typedef T Lanes __attribute__((vector_size(32)));
  const T* const row = p.row.as<T>();
  const T beta = static_cast<T>(p.beta);
  for (int64_t i = 0; i < p.m(); ++i) {
    T* const out = p.out.as<T>() + i * p.out.strides[1];
    int64_t j = 0;
    for (; j + kLanes <= p.n(); j += kLanes) {
      Lanes sum, added;
      std::memcpy(&sum, out + j, sizeof sum);
      std::memcpy(&added, row + j, sizeof added);
      sum += beta * added;
      std::memcpy(out + j, &sum, sizeof sum);
    }
    for (; j < p.n(); ++j) out[j] += beta * row[j];
  }
}

/// Computes every product of the batch with a library, on the calling thread.
void multiply_batch(const Product& p) {
  Gemm gemm = gemm_of(p);
  if (p.row.defined()) gemm.beta = 0;
  for (int64_t i = 0; i < p.batch(); ++i) {
    gemm.a.data = slice(p.a, 0, i, i + 1).data;
    gemm.b.data = slice(p.b, 0, i, i + 1).data;
    gemm.out = slice(p.out, 0, i, i + 1).data;
    cpu::multiply(gemm);
  }
  if (!p.row.defined()) return;
  // Here, because the block is still in the cache.
  p.out.dtype == kFloat ? add_to_rows<float>(p) : add_to_rows<double>(p);
}

/// out = beta * out + the partial sums, added in their order.
template <class T>
void add_partial_sums(const Product& p, const char* partial, int64_t num_sums) {
  const View& out = p.out;
  for (int64_t i = 0; i < out.numel; ++i) {
    T sum(0);
    for (int64_t k = 0; k < num_sums; ++k)
      sum += reinterpret_cast<const T*>(partial)[k * out.numel + i];
    T& element = out.as<T>()[i / p.n() * out.strides[1] + i % p.n() * out.strides[2]];
    element = p.beta == 0 ? sum : sum + static_cast<T>(p.beta) * element;
  }
}

/// Split-k: computes a small result with a long inner dimension as partial sums in parallel, whose
/// number depends on the shape alone. Returns false for other products.
bool multiply_split_k(const Product& p, Ctx& ctx) {
  const bool is_small = p.batch() == 1 && std::max(p.m(), p.n()) < 2 * kMinSide &&
                        (p.out.dtype == kFloat || p.out.dtype == kDouble);
  const int64_t num_sums = std::min({kMaxSums, p.k() / kMinTerms, int64_t(p.work() / kTaskWork)});
  if (!is_small || num_sums < 2) return false;
  Product whole = p;
  whole.out = contiguous_like(p.out, p.out.dtype);
  whole.beta = 0;
  const int64_t result_bytes = whole.out.numel * int64_t(element_size(p.out.dtype));
  char* const partial = static_cast<char*>(ctx.scratch(size_t(num_sums * result_bytes)));
  parallel_blocks(num_sums, [&](int64_t i) {
    Product range = whole;
    const int64_t begin = p.k() * i / num_sums, end = p.k() * (i + 1) / num_sums;
    range.a = slice(p.a, 2, begin, end);
    range.b = slice(p.b, 1, begin, end);
    range.out.data = partial + i * result_bytes;
    multiply_batch(range);
  });
  p.out.dtype == kFloat ? add_partial_sums<float>(p, partial, num_sums)
                        : add_partial_sums<double>(p, partial, num_sums);
  return true;
}

/// Calls run(p) with operands whose rows or columns are contiguous and a result with contiguous
/// rows, as the libraries require.
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

/// Whether a copy of b in row-major order costs less than it saves. oneDNN reads a transposed b
/// with long rows at half the speed (x @ w^T of [1024, 512] by [512, 128]), and one with short rows
/// at 85 % of the speed ([1024, 128] by [128, 384]).
bool suits_row_major_copy(const Product& p, const Gemm& gemm) {
  if (gemm.dtype != kFloat || !gemm.b.transposed || p.batch() != 1 || p.work() <= max_blas_work())
    return false;
  if (p.k() >= p.n()) return p.m() >= kMinRowsForCopy;
  return p.m() >= kManyRows && p.k() >= kMinTermsForCopy && !shares_cache_sets(p.n());
}

void multiply_by_library(const Product& product, Ctx& ctx) {
  with_readable_operands(product, ctx, [&](Product p) {
    const Gemm gemm = gemm_of(p);
    if (suits_row_major_copy(p, gemm)) {
      const View rows = scratch_like(p.b, p.b.dtype, ctx);
      copy(p.b, rows, ctx);
      p.b = rows;
    }
    if (!can_multiply(gemm)) {
      set_rows(p);
      multiply_loops(p.a, p.b, p.out, p.alpha, p.beta);
      return;
    }
    // Blocks signals once for all tasks of a thread; in a long product, each task blocks them.
    std::optional<onednn::NoSignals> no_signals;
    if (p.out.dtype == kFloat && p.work() > max_blas_work() && p.work() <= kShortWork)
      no_signals.emplace();
    if (!multiply_split_k(p, ctx)) Tasks(p, kTaskWork).run(multiply_batch);
  });
}

/// Multiplies by Hearth's own loops. For a large product of several rows, b is first copied if its
/// rows are not contiguous.
void multiply_by_loops(const Product& p, Ctx& ctx) {
  if (p.b.strides[2] == 1 || p.m() == 1 || p.work() <= kStridedLoopWork)
    return multiply_loops(p.a, p.b, p.out, p.alpha, p.beta);
  const View rows = scratch_like(p.b, p.b.dtype, ctx);
  copy(first_of_broadcast(p.b), rows, ctx);
  multiply_loops(p.a, broadcast(rows, p.batch()), p.out, p.alpha, p.beta);
}

/// Multiplies half types with oneDNN if the processor can and alpha is 1, else as float32 copies.
/// Small products are also copied, because a call of oneDNN takes several microseconds.
void multiply_halves(const Product& p, Ctx& ctx) {
  if (p.work() > kHalfWork && p.alpha == 1 && onednn::has_matmul(p.out.dtype))
    return with_readable_operands(p, ctx, [](const Product& whole) {
      Tasks(whole, kHalfTaskWork).run([](const Product& task) {
        if (!onednn::matmul(task.a, task.b, task.out, task.beta))
          multiply_loops(task.a, task.b, task.out, task.alpha, task.beta);
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
  if (is_reduced_float(dtype)) return multiply_halves(p, ctx);
  multiply_by_library(p, ctx);
}

/// Turns the product of a batch of matrices and one matrix into the product of one tall matrix and
/// that matrix.
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

/// Whether c is one row for all rows of a large product, so that multiply_batch can add it.
bool repeats_a_row(const MatmulParams& params) {
  const View &c = params.c, &out = params.out;
  return params.a.numel > 0 && c.dim == 2 && c.dtype == out.dtype &&
         (c.dtype == kFloat || c.dtype == kDouble) && c.strides[0] == 0 && c.strides[1] == 1 &&
         out.strides[1] == 1 && out.strides[0] >= out.sizes[1] && out.sizes[0] >= kManyRows &&
         out.sizes[1] >= kMinSide;
}

}  // namespace

void run(const MatmulParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  const bool adds_c = params.c.defined() && params.beta != 0;
  Product p{as_batch(params.a), as_batch(params.b), as_batch(params.out), params.alpha,
            adds_c ? params.beta : 0};
  if (adds_c && repeats_a_row(params))
    p.row = as_batch(params.c);
  else if (adds_c && !same_memory(params.c, params.out))
    copy(params.c, params.out, ctx);
  join_batch(p);
  multiply(p, ctx);
}

}  // namespace hearth::cpu
