// Eigenvalues and eigenvectors of matrices that need not be symmetric, and the factorization
// L D L^T with its solutions, by a call of LAPACK for each matrix. The threads divide the matrices
// of a batch (linalg_matrices.h). Bound by LAPACK's multiplications, on the order of n^3.
#include <complex>

#include "kernels/cpu/lapack.h"
#include "kernels/cpu/linalg_matrices.h"
#include "seam/linalg.h"

namespace hearth::cpu {

namespace {

/// An estimate of geev's work in multiplications.
double eig_work(const MatrixSizes& s) { return 40.0 * s.rows * s.rows * s.rows; }

/// LAPACK stores the vectors of a conjugate pair as the columns of their real and imaginary parts.
template <class T>
void unpack_vectors(const T* packed, const T* imaginary, int n, std::complex<T>* vectors) {
  for (int column = 0; column < n; ++column) {
    const T* const real = packed + int64_t(column) * n;
    std::complex<T>* const to = vectors + int64_t(column) * n;
    if (imaginary[column] == 0) {
      for (int row = 0; row < n; ++row) to[row] = real[row];
      continue;
    }
    for (int row = 0; row < n; ++row) {
      to[row] = {real[row], real[row + n]};
      to[row + n] = std::conj(to[row]);
    }
    ++column;
  }
}

template <class T>
void eig(const EigParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  const int n = s.rows;
  if (n == 0) return;
  const char job = p.vectors ? 'V' : 'N';
  T answer = 0;
  int unused_info;
  ask_size([&] {
    T unused = 0;
    lapack::geev(job, n, &unused, &unused, &unused, &unused, &answer, -1, &unused_info);
  });
  const int lwork = work_size(answer);
  const size_t work_bytes = aligned(size_t(lwork) * sizeof(T)),
               line_bytes = aligned(size_t(n) * sizeof(T)),
               matrix_bytes = p.vectors ? size_t(n) * size_t(n) * sizeof(T) : 0;
  for_matrices(ctx, s.count, eig_work(s), work_bytes + 2 * line_bytes + matrix_bytes,
               [&](int64_t i, const Workspace& work) {
                 T* const real = work.as<T>(work_bytes);
                 T* const imaginary = work.as<T>(work_bytes + line_bytes);
                 T* const vectors = work.as<T>(work_bytes + 2 * line_bytes);
                 int* const info = p.info.as<int>() + i;
                 *info = 0;
                 lapack::geev(job, n, s.at<T>(p.a, i), real, imaginary, vectors, work.as<T>(),
                              lwork, info);
                 auto* const values = p.w.as<std::complex<T>>() + i * n;
                 for (int k = 0; k < n; ++k) values[k] = {real[k], imaginary[k]};
                 if (p.vectors)
                   unpack_vectors(vectors, imaginary, n, s.at<std::complex<T>>(p.v, i));
               });
}

}  // namespace

void run(const EigParams& p, Ctx& ctx) {
  with_real(p.a.dtype, [&](auto zero) { eig<decltype(zero)>(p, ctx); });
}

void run(const LdlFactorParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  const int n = s.rows;
  if (n == 0) return;
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    T answer = 0;
    int unused_pivot, unused_info;
    ask_size([&] { lapack::sytrf(n, &zero, &unused_pivot, &answer, -1, &unused_info); });
    const int lwork = work_size(answer);
    for_matrices(ctx, s.count, double(n) * n * n / 3, size_t(lwork) * sizeof(T),
                 [&](int64_t i, const Workspace& work) {
                   int* const info = p.info.as<int>() + i;
                   *info = 0;
                   lapack::sytrf(n, s.at<T>(p.a, i), p.pivots.as<int>() + i * n, work.as<T>(),
                                 lwork, info);
                 });
  });
}

void run(const LdlSolveParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a), right(p.b);
  const int n = s.rows;
  if (n == 0 || right.columns == 0) return;
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_matrices(ctx, s.count, 2.0 * n * n * right.columns, 0, [&](int64_t i, const Workspace&) {
      int info;
      lapack::sytrs(n, right.columns, s.at<T>(p.a, i), p.pivots.as<int>() + i * n,
                    right.at<T>(p.b, i), &info);
    });
  });
}

}  // namespace hearth::cpu
