#pragma once

#include <cstddef>

// The Fortran routines of LAPACK that Hearth calls (OpenBLAS contains them), and overloads of them
// for float and double. The lengths of text arguments follow the other arguments.
#define HEARTH_LAPACK(T, letter)                                                                   \
  extern "C" {                                                                                     \
  void letter##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);   \
  void letter##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);    \
  void letter##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work,           \
                      const int* lwork, int* info);                                                \
  void letter##orgqr_(const int* m, const int* n, const int* k, T* a, const int* lda,              \
                      const T* tau, T* work, const int* lwork, int* info);                         \
  void letter##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s,     \
                      T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork,     \
                      int* iwork, int* info, size_t);                                              \
  void letter##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, \
                      T* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t, \
                      size_t);                                                                     \
  void letter##gels_(const char* trans, const int* m, const int* n, const int* nrhs, T* a,         \
                     const int* lda, T* b, const int* ldb, T* work, const int* lwork, int* info,   \
                     size_t);                                                                      \
  void letter##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,     \
                      const int* ldb, int* jpvt, const T* rcond, int* rank, T* work,               \
                      const int* lwork, int* info);                                                \
  void letter##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,     \
                      const int* ldb, T* s, const T* rcond, int* rank, T* work, const int* lwork,  \
                      int* iwork, int* info);                                                      \
  void letter##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,     \
                      const int* ldb, T* s, const T* rcond, int* rank, T* work, const int* lwork,  \
                      int* info);                                                                  \
  void letter##geev_(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda,     \
                     T* wr, T* wi, T* vl, const int* ldvl, T* vr, const int* ldvr, T* work,        \
                     const int* lwork, int* info, size_t, size_t);                                 \
  void letter##sytrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work,  \
                      const int* lwork, int* info, size_t);                                        \
  void letter##sytrs_(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda, \
                      const int* pivots, T* b, const int* ldb, int* info, size_t);                 \
  }                                                                                                \
  namespace hearth::cpu::lapack {                                                                  \
  inline void getrf(int m, int n, T* a, int* pivots, int* info) {                                  \
    const int lda = leading(m);                                                                    \
    letter##getrf_(&m, &n, a, &lda, pivots, info);                                                 \
  }                                                                                                \
  inline void potrf(char uplo, int n, T* a, int* info) {                                           \
    const int lda = leading(n);                                                                    \
    letter##potrf_(&uplo, &n, a, &lda, info, 1);                                                   \
  }                                                                                                \
  inline void geqrf(int m, int n, T* a, T* tau, T* work, int lwork, int* info) {                   \
    const int lda = leading(m);                                                                    \
    letter##geqrf_(&m, &n, a, &lda, tau, work, &lwork, info);                                      \
  }                                                                                                \
  inline void orgqr(int m, int n, int k, T* a, const T* tau, T* work, int lwork, int* info) {      \
    const int lda = leading(m);                                                                    \
    letter##orgqr_(&m, &n, &k, a, &lda, tau, work, &lwork, info);                                  \
  }                                                                                                \
  inline void gesdd(char job, int m, int n, T* a, T* s, T* u, T* vt, int rows_of_vt, T* work,      \
                    int lwork, int* iwork, int* info) {                                            \
    const int lda = leading(m), ldvt = leading(rows_of_vt);                                        \
    letter##gesdd_(&job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, &lwork, iwork, info, 1);    \
  }                                                                                                \
  inline void syevd(char job, char uplo, int n, T* a, T* w, T* work, int lwork, int* iwork,        \
                    int liwork, int* info) {                                                       \
    const int lda = leading(n);                                                                    \
    letter##syevd_(&job, &uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, info, 1, 1);         \
  }                                                                                                \
  inline void gels(int m, int n, int nrhs, T* a, T* b, T* work, int lwork, int* info) {            \
    const int lda = leading(m), ldb = leading(m > n ? m : n);                                      \
    letter##gels_("N", &m, &n, &nrhs, a, &lda, b, &ldb, work, &lwork, info, 1);                    \
  }                                                                                                \
  inline void gelsy(int m, int n, int nrhs, T* a, T* b, int* jpvt, T rcond, int* rank, T* work,    \
                    int lwork, int* info) {                                                        \
    const int lda = leading(m), ldb = leading(m > n ? m : n);                                      \
    letter##gelsy_(&m, &n, &nrhs, a, &lda, b, &ldb, jpvt, &rcond, rank, work, &lwork, info);       \
  }                                                                                                \
  inline void gelsd(int m, int n, int nrhs, T* a, T* b, T* s, T rcond, int* rank, T* work,         \
                    int lwork, int* iwork, int* info) {                                            \
    const int lda = leading(m), ldb = leading(m > n ? m : n);                                      \
    letter##gelsd_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &lwork, iwork, info);   \
  }                                                                                                \
  inline void gelss(int m, int n, int nrhs, T* a, T* b, T* s, T rcond, int* rank, T* work,         \
                    int lwork, int* info) {                                                        \
    const int lda = leading(m), ldb = leading(m > n ? m : n);                                      \
    letter##gelss_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &lwork, info);          \
  }                                                                                                \
  inline void geev(char job, int n, T* a, T* wr, T* wi, T* vr, T* work, int lwork, int* info) {    \
    const int lda = leading(n);                                                                    \
    letter##geev_("N", &job, &n, a, &lda, wr, wi, nullptr, &lda, vr, &lda, work, &lwork, info, 1,  \
                  1);                                                                              \
  }                                                                                                \
  inline void sytrf(int n, T* a, int* pivots, T* work, int lwork, int* info) {                     \
    const int lda = leading(n);                                                                    \
    letter##sytrf_("L", &n, a, &lda, pivots, work, &lwork, info, 1);                               \
  }                                                                                                \
  inline void sytrs(int n, int nrhs, const T* a, const int* pivots, T* b, int* info) {             \
    const int lda = leading(n);                                                                    \
    letter##sytrs_("L", &n, &nrhs, a, &lda, pivots, b, &lda, info, 1);                             \
  }                                                                                                \
  }

namespace hearth::cpu::lapack {
/// The leading dimension of a matrix with this many rows; LAPACK requires a positive one.
inline int leading(int rows) { return rows > 0 ? rows : 1; }
}  // namespace hearth::cpu::lapack

HEARTH_LAPACK(float, s)
HEARTH_LAPACK(double, d)
#undef HEARTH_LAPACK
