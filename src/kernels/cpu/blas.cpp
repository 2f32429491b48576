// Products of float, double and complex matrices by CBLAS, on the calling thread; the callers
// divide large products. A product is bound by its multiplications, a product with a vector by
// reading the matrix.
#include "kernels/cpu/blas.h"

#include <cblas.h>

#include <algorithm>
#include <limits>

#include "core/process_end.h"
#include "core/threads.h"

namespace hearth::cpu::blas {

namespace {

int narrow(int64_t value) { return static_cast<int>(value); }

CBLAS_TRANSPOSE transpose(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/// A Gemm whose result is a vector: y = alpha * op(matrix) @ x + beta * y.
struct Gemv {
  const void* matrix;
  int64_t ld, rows, columns;  // of the matrix as it is stored
  bool transposed;
  const void* x;
  int64_t x_step;
  int64_t y_size, y_step;

  explicit Gemv(const Gemm& g) {
    const bool is_column = g.n == 1;  // else y is a row, and y^T = b^T @ a^T
    const GemmOperand& m = is_column ? g.a : g.b;
    const GemmOperand& v = is_column ? g.b : g.a;
    matrix = m.data;
    ld = m.ld;
    transposed = is_column ? m.transposed : !m.transposed;
    y_size = is_column ? g.m : g.n;
    y_step = is_column ? g.ld_out : 1;
    rows = transposed ? g.k : y_size;
    columns = transposed ? y_size : g.k;
    x = v.data;
    const bool is_stored_as_row = is_column ? v.transposed : !v.transposed;
    x_step = is_stored_as_row ? 1 : v.ld;
  }
};

// CBLAS takes real numbers by value and complex ones by address.
#define HEARTH_BY_VALUE(number) number
#define HEARTH_BY_ADDRESS(number) &number
#define HEARTH_BLAS_FAMILY(T, letter, PASS)                                                      \
  void gemm(const Gemm& g, T alpha, T beta) {                                                    \
    cblas_##letter##gemm(CblasRowMajor, transpose(g.a.transposed), transpose(g.b.transposed),    \
                         narrow(g.m), narrow(g.n), narrow(g.k), PASS(alpha),                     \
                         static_cast<const T*>(g.a.data), narrow(g.a.ld),                        \
                         static_cast<const T*>(g.b.data), narrow(g.b.ld), PASS(beta),            \
                         static_cast<T*>(g.out), narrow(g.ld_out));                              \
  }                                                                                              \
  void gemv(const Gemv& v, T* y, T alpha, T beta) {                                              \
    cblas_##letter##gemv(CblasRowMajor, transpose(v.transposed), narrow(v.rows),                 \
                         narrow(v.columns), PASS(alpha), static_cast<const T*>(v.matrix),        \
                         narrow(v.ld), static_cast<const T*>(v.x), narrow(v.x_step), PASS(beta), \
                         y, narrow(v.y_step));                                                   \
  }
HEARTH_BLAS_FAMILY(float, s, HEARTH_BY_VALUE)
HEARTH_BLAS_FAMILY(double, d, HEARTH_BY_VALUE)
HEARTH_BLAS_FAMILY(complex<float>, c, HEARTH_BY_ADDRESS)
HEARTH_BLAS_FAMILY(complex<double>, z, HEARTH_BY_ADDRESS)
#undef HEARTH_BLAS_FAMILY
#undef HEARTH_BY_ADDRESS
#undef HEARTH_BY_VALUE

template <class T, class Real>
void multiply_as(const Gemm& g) {
  const T alpha(static_cast<Real>(g.alpha)), beta(static_cast<Real>(g.beta));
  if (g.m != 1 && g.n != 1) return gemm(g, alpha, beta);
  const Gemv v(g);
  T* const y = static_cast<T*>(g.out);
  if (g.beta == 0)  // not every gemv ignores NaN in y
    for (int64_t i = 0; i < v.y_size; ++i) y[i * v.y_step] = T(0);
  gemv(v, y, alpha, beta);
}

}  // namespace

bool can_express(const Gemm& g) {
  return std::max({g.m, g.n, g.k, g.a.ld, g.b.ld, g.ld_out}) <= std::numeric_limits<int>::max();
}

void multiply(const Gemm& gemm) {
  const LibraryCall call;
  const LibraryThreadsGuard guard;
  switch (gemm.dtype) {
    case kFloat: return multiply_as<float, float>(gemm);
    case kDouble: return multiply_as<double, double>(gemm);
    case kComplexFloat: return multiply_as<complex<float>, float>(gemm);
    case kComplexDouble: return multiply_as<complex<double>, double>(gemm);
    default: return;
  }
}

}  // namespace hearth::cpu::blas
