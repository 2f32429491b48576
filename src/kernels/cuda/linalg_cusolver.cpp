// Triangular factors and solutions: getrf (LU), potrf (Cholesky) and sytrf (L D L^T) of cuSOLVER,
// trsm of cuBLAS for solutions, with one call per matrix. info is cleared before the calls. All
// matrices share one workspace; a triangle that is stored row by row is passed as its transpose.
// Many small matrices are bound by the launches.
#include "kernels/cuda/linalg_cusolver.h"

namespace hearth::cuda {

void run(const LuFactorParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  if (s.count == 0) return;
  const SolverContext solver(ctx);
  solver.clear(p.info.as<int>(), s.count);
  if (s.shorter() == 0) return;
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    int size = 0;
    HEARTH_CUSOLVER(T, getrf_bufferSize, solver.handle, s.rows, s.columns, p.a.as<T>(), s.rows,
                    &size);
    T* const work = solver.scratch<T>(size);
    for (int64_t i = 0; i < s.count; ++i)
      HEARTH_CUSOLVER(T, getrf, solver.handle, s.rows, s.columns, s.at<T>(p.a, i), s.rows, work,
                      p.pivots.as<int>() + i * s.shorter(), p.info.as<int>() + i);
  });
}

void run(const CholeskyParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  if (s.count == 0) return;
  const SolverContext solver(ctx);
  solver.clear(p.info.as<int>(), s.count);
  if (s.rows == 0) return;
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const cublasFillMode_t triangle = fill_mode(p.upper);
    int size = 0;
    HEARTH_CUSOLVER(T, potrf_bufferSize, solver.handle, triangle, s.rows, p.a.as<T>(), s.rows,
                    &size);
    T* const work = solver.scratch<T>(size);
    for (int64_t i = 0; i < s.count; ++i)
      HEARTH_CUSOLVER(T, potrf, solver.handle, triangle, s.rows, s.at<T>(p.a, i), s.rows, work,
                      size, p.info.as<int>() + i);
  });
  check_diagonal(p.a, false, p.info.as<int>(), ctx);
}

void run(const TriangularSolveParams& p, Ctx& ctx) {
  const MatrixSizes s(p.b);
  if (s.count == 0 || s.rows == 0 || s.columns == 0) return;
  const NativeStream& stream = stream_of(ctx);
  const CurrentDevice device(stream.device);
  // A matrix that is stored row by row is the transposed one stored column by column.
  const bool row_major = p.a.strides[p.a.dim - 1] == 1 && s.rows > 1;
  const cublasFillMode_t triangle = fill_mode(p.upper != row_major);
  const cublasOperation_t operation = p.transposed != row_major ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasDiagType_t diagonal = p.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const int64_t step = int64_t{s.rows} * s.rows;
  with_real(p.b.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < s.count; ++i)
      solve_triangle(stream, triangle, operation, diagonal, s.rows, s.columns,
                     p.a.as<const T>() + i * step, s.rows, s.at<T>(p.b, i), s.rows);
  });
}

void run(const LdlFactorParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  if (s.count == 0) return;
  const SolverContext solver(ctx);
  solver.clear(p.info.as<int>(), s.count);
  if (s.rows == 0) return;
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    int size = 0;
    HEARTH_CUSOLVER(T, sytrf_bufferSize, solver.handle, s.rows, p.a.as<T>(), s.rows, &size);
    T* const work = solver.scratch<T>(size);
    for (int64_t i = 0; i < s.count; ++i)
      HEARTH_CUSOLVER(T, sytrf, solver.handle, CUBLAS_FILL_MODE_LOWER, s.rows, s.at<T>(p.a, i),
                      s.rows, p.pivots.as<int>() + i * s.rows, work, size, p.info.as<int>() + i);
  });
}

}  // namespace hearth::cuda
