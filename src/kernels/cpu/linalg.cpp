// Triangular factors (LU, Cholesky) and triangular solutions, by a call of LAPACK or BLAS for each
// matrix, and exchanges of rows by LU's pivots. The threads divide the matrices of a batch
// (linalg_matrices.h). Bound by the multiplications, on the order of n^3; the exchanges of rows by
// memory, with strides.
#include "seam/linalg.h"

#include <cblas.h>

#include <cmath>
#include <utility>

#include "kernels/cpu/lapack.h"
#include "kernels/cpu/linalg_matrices.h"

namespace hearth::cpu {

namespace {

double cube(double n) { return n * n * n; }

/// b = op(a)^-1 @ b, by BLAS.
template <class T>
void solve_triangle(bool row_major, const TriangularSolveParams& p, int rows, int columns,
                    const T* a, T* b) {
  // A matrix that is stored row by row is the transposed one stored column by column.
  const CBLAS_UPLO uplo = p.upper != row_major ? CblasUpper : CblasLower;
  const CBLAS_TRANSPOSE transpose = p.transposed != row_major ? CblasTrans : CblasNoTrans;
  const CBLAS_DIAG diagonal = p.unit ? CblasUnit : CblasNonUnit;
  const int ld = lapack::leading(rows);
  if constexpr (std::is_same_v<T, double>)
    cblas_dtrsm(CblasColMajor, CblasLeft, uplo, transpose, diagonal, rows, columns, 1, a, ld, b,
                ld);
  else
    cblas_strsm(CblasColMajor, CblasLeft, uplo, transpose, diagonal, rows, columns, 1, a, ld, b,
                ld);
}

template <class T>
void swap_rows(T* a, int rows, int columns, const int* pivots, int count, bool reversed) {
  for (int k = 0; k < count; ++k) {
    const int i = reversed ? count - 1 - k : k, j = pivots[i] - 1;
    if (i != j)
      for (int c = 0; c < columns; ++c)
        std::swap(a[i + int64_t(c) * rows], a[j + int64_t(c) * rows]);
  }
}

/// Returns the index of the diagonal's first NaN, counted from 1, or 0 if there is none. (OpenBLAS
/// does not stop at NaN, unlike the reference LAPACK.)
template <class T>
int first_nan_of_diagonal(const T* a, int n) {
  for (int i = 0; i < n; ++i)
    if (std::isnan(a[i * (int64_t(n) + 1)])) return i + 1;
  return 0;
}

}  // namespace

void run(const LuFactorParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_matrices(ctx, s.count, cube(s.shorter()), 0, [&](int64_t i, const Workspace&) {
      int* const info = p.info.as<int>() + i;
      *info = 0;
      if (s.shorter() > 0)
        lapack::getrf(s.rows, s.columns, s.at<T>(p.a, i), p.pivots.as<int>() + i * s.shorter(),
                      info);
    });
  });
}

void run(const ApplyPivotsParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  const int count = int(p.pivots.sizes[p.pivots.dim - 1]);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_matrices(ctx, s.count, double(count) * s.columns, 0, [&](int64_t i, const Workspace&) {
      swap_rows(s.at<T>(p.a, i), s.rows, s.columns, p.pivots.as<int>() + i * count, count,
                p.reversed);
    });
  });
}

void run(const CholeskyParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_matrices(ctx, s.count, cube(s.rows) / 3, 0, [&](int64_t i, const Workspace&) {
      int* const info = p.info.as<int>() + i;
      *info = 0;
      if (s.rows == 0) return;
      T* const a = s.at<T>(p.a, i);
      lapack::potrf(p.upper ? 'U' : 'L', s.rows, a, info);
      if (*info == 0) *info = first_nan_of_diagonal(a, s.rows);
    });
  });
}

void run(const TriangularSolveParams& p, Ctx& ctx) {
  const MatrixSizes s(p.b);
  if (s.rows == 0 || s.columns == 0) return;
  const bool row_major = p.a.strides[p.a.dim - 1] == 1 && s.rows > 1;
  const int64_t step = int64_t(s.rows) * s.rows;
  const double work = double(step) * s.columns;
  with_real(p.b.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_matrices(ctx, s.count, work, 0, [&](int64_t i, const Workspace&) {
      solve_triangle<T>(row_major, p, s.rows, s.columns, p.a.as<T>() + i * step, s.at<T>(p.b, i));
    });
  });
}

}  // namespace hearth::cpu
