#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include "hearth/error.h"
#include "kernels/cuda/library_file.h"

namespace hearth::cuda {

/// The functions of cuSOLVER that exist for float and double, without their prefix.
#define HEARTH_CUSOLVER_PAIRS(X) \
  X(getrf_bufferSize)            \
  X(getrf)                       \
  X(potrf_bufferSize)            \
  X(potrf)                       \
  X(geqrf_bufferSize)            \
  X(geqrf)                       \
  X(orgqr_bufferSize)            \
  X(orgqr)                       \
  X(ormqr_bufferSize)            \
  X(ormqr)                       \
  X(gesvdj_bufferSize)           \
  X(gesvdj)                      \
  X(gesvd_bufferSize)            \
  X(gesvd)                       \
  X(syevd_bufferSize)            \
  X(syevd)                       \
  X(sytrf_bufferSize)            \
  X(sytrf)
#define HEARTH_CUSOLVER_FUNCTIONS(X) \
  X(cusolverDnCreate)                \
  X(cusolverDnSetStream)             \
  X(cusolverDnCreateGesvdjInfo)      \
  X(cusolverDnDestroyGesvdjInfo)     \
  X(cusolverDnCreateParams)          \
  X(cusolverDnDestroyParams)         \
  X(cusolverDnXgeev_bufferSize)      \
  X(cusolverDnXgeev)
#define HEARTH_CUBLAS_FUNCTIONS(X) \
  X(cublasCreate_v2)               \
  X(cublasSetStream_v2)            \
  X(cublasStrsm_v2)                \
  X(cublasDtrsm_v2)

/// cuSOLVER and cuBLAS, opened at their first use.
struct Cusolver {
#define HEARTH_MEMBER(name) decltype(&::name) name = nullptr;
#define HEARTH_MEMBERS(name)       \
  HEARTH_MEMBER(cusolverDnS##name) \
  HEARTH_MEMBER(cusolverDnD##name)
  HEARTH_CUSOLVER_FUNCTIONS(HEARTH_MEMBER)
  HEARTH_CUBLAS_FUNCTIONS(HEARTH_MEMBER)
  HEARTH_CUSOLVER_PAIRS(HEARTH_MEMBERS)
#undef HEARTH_MEMBERS
#undef HEARTH_MEMBER

  /// Throws an Error with the reason if they could not be opened.
  static const Cusolver& get();
};

/// Throw unless a call succeeded.
void check_cusolver(cusolverStatus_t status, const char* call);
void check_cublas(cublasStatus_t status, const char* call);

/// Chooses between the members for float and double.
template <class T, class Single, class Double>
constexpr auto of_type(Single single, Double of_double) {
  if constexpr (std::is_same_v<T, float>)
    return single;
  else
    return of_double;
}

/// Calls a function of cuSOLVER for type T, and throws unless it succeeds.
#define HEARTH_CUSOLVER(T, name, ...)                                                        \
  ::hearth::cuda::check_cusolver(                                                            \
      (Cusolver::get().*                                                                     \
       of_type<T>(&Cusolver::cusolverDnS##name, &Cusolver::cusolverDnD##name))(__VA_ARGS__), \
      #name)

/// This thread's handles for the stream's device, which must be current.
cusolverDnHandle_t cusolver_handle(const NativeStream& stream);
cublasHandle_t cublas_handle(const NativeStream& stream);

}  // namespace hearth::cuda
