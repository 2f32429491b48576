// Least squares by QR, for matrices of full rank: geqrf and ormqr of cuSOLVER and trsm of cuBLAS,
// once per matrix. Before the calls, matrices that are not finite become zeros, and wide ones are
// transposed into scratch memory. Many small matrices are bound by the launches.
#include "kernels/cuda/linalg_cusolver.h"
#include "kernels/cuda/loop.h"

namespace hearth::cuda {

namespace {

/// The matrix with at least as many rows as columns: A or, in scratch memory, its transpose.
View tall_matrix(const View& a, Ctx& ctx) {
  const MatrixSizes s(a);
  if (s.rows >= s.columns) return a;
  View flipped = a, from = a;
  const int rows = a.dim - 2, columns = a.dim - 1;
  std::swap(flipped.sizes[rows], flipped.sizes[columns]);
  flipped.strides[columns] = s.columns;  // of a matrix stored column by column
  flipped.strides[rows] = 1;
  flipped.data = ctx.scratch(static_cast<size_t>(a.numel) * element_size(a.dtype));
  std::swap(from.sizes[rows], from.sizes[columns]);
  std::swap(from.strides[rows], from.strides[columns]);
  run(copy_params(flipped, from), ctx);
  return flipped;
}

/// For a tall A = Q R, X = R^-1 Q^T B. For a wide A with A^T = Q R, X = Q R^-T B, which has the
/// smallest norm.
template <class T>
void solve_by_qr(const LeastSquaresParams& p, const SolverContext& solver) {
  const View a = tall_matrix(p.a, solver.ctx);
  const MatrixSizes s(a), right(p.b);
  const bool is_tall = a.data == p.a.data;
  const int m = s.rows, n = s.columns, columns = right.columns;
  const cublasOperation_t op = is_tall ? CUBLAS_OP_T : CUBLAS_OP_N;
  T* const tau = solver.scratch<T>(n);
  int factor_size = 0, product_size = 0;
  HEARTH_CUSOLVER(T, geqrf_bufferSize, solver.handle, m, n, a.as<T>(), m, &factor_size);
  HEARTH_CUSOLVER(T, ormqr_bufferSize, solver.handle, CUBLAS_SIDE_LEFT, op, m, columns, n,
                  a.as<const T>(), m, tau, p.b.as<const T>(), m, &product_size);
  const int size = std::max(factor_size, product_size);
  T* const work = solver.scratch<T>(size);
  int* const info = solver.scratch<int>(1);
  for (int64_t i = 0; i < s.count; ++i) {
    T *const factors = s.at<T>(a, i), *const b = right.at<T>(p.b, i);
    const auto multiply_q = [&] {
      HEARTH_CUSOLVER(T, ormqr, solver.handle, CUBLAS_SIDE_LEFT, op, m, columns, n, factors, m, tau,
                      b, m, work, size, info);
    };
    HEARTH_CUSOLVER(T, geqrf, solver.handle, m, n, factors, m, tau, work, size, info);
    if (is_tall) multiply_q();
    solve_triangle(solver.stream, CUBLAS_FILL_MODE_UPPER, is_tall ? CUBLAS_OP_N : CUBLAS_OP_T,
                   CUBLAS_DIAG_NON_UNIT, n, columns, factors, m, b, m);
    if (!is_tall) multiply_q();
  }
  check_diagonal(a, true, p.info.as<int>(), solver.ctx);
}

}  // namespace

void run(const LeastSquaresParams& p, Ctx& ctx) {
  HEARTH_CHECK(p.driver == LeastSquaresDriver::kQr,
               "torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA");
  const MatrixSizes s(p.a);
  if (s.count == 0 || s.shorter() == 0) return;
  const SolverContext solver(ctx);
  int* const info = p.info.as<int>();
  solver.clear(info, s.count);
  const NotFinite bad(p.a, Part::kAll, solver);
  with_real(p.a.dtype, [&](auto zero) { solve_by_qr<decltype(zero)>(p, solver); });
  bad.set_nan(p.b);
  bad.set_info(info, 0);
}

}  // namespace hearth::cuda
