// Orthogonal factors: QR, singular values, eigenvalues of symmetric matrices, least squares, by a
// call of LAPACK for each matrix. The threads divide the matrices of a batch (linalg_matrices.h).
// Bound by LAPACK's multiplications, a multiple of longer * shorter^2; many are in matrix-vector
// products, which read the matrix again each time.
#include <cmath>
#include <limits>

#include "kernels/cpu/lapack.h"
#include "kernels/cpu/linalg_matrices.h"
#include "seam/linalg.h"

namespace hearth::cpu {

namespace {

/// The work of an orthogonal factorization in multiplications, with a factor for its matrix-vector
/// products, which are slow. The iterations of the other routines count as four factorizations.
double orthogonal_work(const MatrixSizes& s) {
  return 4.0 * s.longer() * s.shorter() * s.shorter();
}

template <class T>
bool all_finite(const T* elements, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(elements[i])) return false;
  return true;
}
template <class T>
bool any_nan(const T* elements, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (std::isnan(elements[i])) return true;
  return false;
}
template <class T>
void fill_nan(T* elements, int64_t count) {
  if (elements) std::fill_n(elements, count, std::numeric_limits<T>::quiet_NaN());
}

template <class T>
void svd(const SvdParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  const int k = s.shorter();
  if (k == 0) return;
  const char job = !p.vectors ? 'N' : p.full ? 'A' : 'S';
  const int vt_rows = p.full ? s.columns : k, u_columns = p.full ? s.rows : k;
  T answer = 0;
  int unused, unused_info;
  ask_size([&] {
    lapack::gesdd(job, s.rows, s.columns, static_cast<T*>(nullptr), nullptr, nullptr, nullptr,
                  vt_rows, &answer, -1, &unused, &unused_info);
  });
  const int lwork = work_size(answer);
  const size_t work_bytes = aligned(size_t(lwork) * sizeof(T)),
               iwork_bytes = 8 * size_t(k) * sizeof(int);  // as gesdd requires
  for_matrices(ctx, s.count, 4 * orthogonal_work(s), work_bytes + iwork_bytes,
               [&](int64_t i, const Workspace& work) {
                 T* const a = s.at<T>(p.a, i);
                 T* const values = p.s.as<T>() + i * k;
                 T* const u = p.vectors ? p.u.as<T>() + i * s.rows * u_columns : nullptr;
                 T* const vt = p.vectors ? p.vh.as<T>() + i * vt_rows * s.columns : nullptr;
                 int* const info = p.info.as<int>() + i;
                 const int64_t elements = int64_t(s.rows) * s.columns;
                 if (all_finite(a, elements)) {
                   *info = 0;
                   lapack::gesdd(job, s.rows, s.columns, a, values, u, vt, vt_rows, work.as<T>(),
                                 lwork, work.as<int>(work_bytes), info);
                   return;
                 }
                 *info = any_nan(a, elements) ? -4 : 0;  // -4: as gesdd reports NaN
                 fill_nan(values, k);
                 fill_nan(u, int64_t(s.rows) * u_columns);
                 fill_nan(vt, int64_t(vt_rows) * s.columns);
               });
}

/// Whether the triangle that is read has only finite elements.
template <class T>
bool triangle_finite(const T* a, int n, bool upper) {
  for (int column = 0; column < n; ++column) {
    const int first = upper ? 0 : column, end = upper ? column + 1 : n;
    if (!all_finite(a + int64_t(column) * n + first, end - first)) return false;
  }
  return true;
}

template <class T>
void eigh(const EighParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  const int n = s.rows;
  if (n == 0) return;
  const char job = p.vectors ? 'V' : 'N', uplo = p.upper ? 'U' : 'L';
  T answer = 0;
  int liwork = 0, unused_info;
  ask_size([&] {
    lapack::syevd(job, uplo, n, static_cast<T*>(nullptr), static_cast<T*>(nullptr), &answer, -1,
                  &liwork, -1, &unused_info);
  });
  const int lwork = work_size(answer);
  const size_t work_bytes = aligned(size_t(lwork) * sizeof(T));
  for_matrices(ctx, s.count, 4 * orthogonal_work(s), work_bytes + size_t(liwork) * sizeof(int),
               [&](int64_t i, const Workspace& work) {
                 T* const a = s.at<T>(p.a, i);
                 T* const values = p.w.as<T>() + i * n;
                 int* const info = p.info.as<int>() + i;
                 *info = 0;
                 if (triangle_finite(a, n, p.upper))
                   return lapack::syevd(job, uplo, n, a, values, work.as<T>(), lwork,
                                        work.as<int>(work_bytes), liwork, info);
                 fill_nan(values, n);
                 fill_nan(a, int64_t(n) * n);
               });
}

/// One call of the driver for a problem; with lwork = -1, a query of the workspace.
template <class T>
struct LeastSquaresCall {
  LeastSquaresDriver driver;
  int m, n, nrhs;
  T rcond;

  void operator()(T* a, T* b, T* s, int* rank, T* work, int lwork, int* iwork, int* info) const {
    switch (driver) {
      case LeastSquaresDriver::kQr: return lapack::gels(m, n, nrhs, a, b, work, lwork, info);
      case LeastSquaresDriver::kPivotedQr:
        return lapack::gelsy(m, n, nrhs, a, b, iwork, rcond, rank, work, lwork, info);
      case LeastSquaresDriver::kDivideAndConquer:
        return lapack::gelsd(m, n, nrhs, a, b, s, rcond, rank, work, lwork, iwork, info);
      case LeastSquaresDriver::kSvd:
        return lapack::gelss(m, n, nrhs, a, b, s, rcond, rank, work, lwork, info);
    }
  }
};

template <class T>
void least_squares(const LeastSquaresParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a), right(p.b);
  const LeastSquaresCall<T> call{p.driver, s.rows, s.columns, right.columns, T(p.rcond)};
  T answer = 0;
  int liwork = 0, unused_rank = 0, unused_info;
  ask_size(
      [&] { call(nullptr, nullptr, nullptr, &unused_rank, &answer, -1, &liwork, &unused_info); });
  const int lwork = work_size(answer);
  if (p.driver == LeastSquaresDriver::kPivotedQr) liwork = s.columns;
  const size_t work_bytes = aligned(size_t(lwork) * sizeof(T));
  for_matrices(ctx, s.count, 4 * orthogonal_work(s),
               work_bytes + size_t(std::max(liwork, 1)) * sizeof(int),
               [&](int64_t i, const Workspace& work) {
                 int* const info = p.info.as<int>() + i;
                 int* const iwork = work.as<int>(work_bytes);
                 int rank = 0;
                 *info = 0;
                 T* const a = s.at<T>(p.a, i);
                 T* const b = right.at<T>(p.b, i);
                 T* const values = p.s.defined() ? p.s.as<T>() + i * s.shorter() : nullptr;
                 if (p.driver == LeastSquaresDriver::kPivotedQr)
                   std::fill_n(iwork, s.columns, 0);  // all columns may be moved
                 if (all_finite(a, int64_t(s.rows) * s.columns)) {
                   call(a, b, values, &rank, work.as<T>(), lwork, iwork, info);
                 } else {
                   fill_nan(b, int64_t(right.rows) * right.columns);
                   if (values) fill_nan(values, s.shorter());
                 }
                 if (p.rank.defined()) p.rank.as<int64_t>()[i] = rank;
               });
}

}  // namespace

void run(const QrFactorParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    T answer = 0;
    int unused_info;
    if (s.shorter() == 0) return;
    ask_size([&] { lapack::geqrf(s.rows, s.columns, &zero, &zero, &answer, -1, &unused_info); });
    const int lwork = work_size(answer);
    for_matrices(ctx, s.count, orthogonal_work(s), size_t(lwork) * sizeof(T),
                 [&](int64_t i, const Workspace& work) {
                   int info;
                   lapack::geqrf(s.rows, s.columns, s.at<T>(p.a, i),
                                 p.tau.as<T>() + i * s.shorter(), work.as<T>(), lwork, &info);
                 });
  });
}

void run(const HouseholderProductParams& p, Ctx& ctx) {
  const MatrixSizes s(p.q);
  const int k = int(p.tau.sizes[p.tau.dim - 1]);
  with_real(p.q.dtype, [&](auto zero) {
    using T = decltype(zero);
    T answer = 0;
    int unused_info;
    if (s.shorter() == 0) return;
    ask_size([&] { lapack::orgqr(s.rows, s.columns, k, &zero, &zero, &answer, -1, &unused_info); });
    const int lwork = work_size(answer);
    for_matrices(ctx, s.count, orthogonal_work(s), size_t(lwork) * sizeof(T),
                 [&](int64_t i, const Workspace& work) {
                   int info;
                   lapack::orgqr(s.rows, s.columns, k, s.at<T>(p.q, i), p.tau.as<T>() + i * k,
                                 work.as<T>(), lwork, &info);
                 });
  });
}

void run(const SvdParams& p, Ctx& ctx) {
  with_real(p.a.dtype, [&](auto zero) { svd<decltype(zero)>(p, ctx); });
}

void run(const EighParams& p, Ctx& ctx) {
  with_real(p.a.dtype, [&](auto zero) { eigh<decltype(zero)>(p, ctx); });
}

void run(const LeastSquaresParams& p, Ctx& ctx) {
  with_real(p.a.dtype, [&](auto zero) { least_squares<decltype(zero)>(p, ctx); });
}

}  // namespace hearth::cpu
