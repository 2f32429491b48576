#pragma once

#include "kernels/cuda/cusolver_library.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/linalg_kernels.h"
#include "seam/linalg.h"

namespace hearth::cuda {

/// The stream, device, handle and scratch memory that cuSOLVER's calls for a batch share. There is
/// one call for each matrix, one after the other.
struct SolverContext {
  Ctx& ctx;
  const NativeStream& stream;
  const CurrentDevice device;
  const cusolverDnHandle_t handle;

  explicit SolverContext(Ctx& context)
      : ctx(context),
        stream(stream_of(context)),
        device(stream.device),
        handle(cusolver_handle(stream)) {}

  template <class T>
  T* scratch(int64_t count) const {
    return static_cast<T*>(ctx.scratch(static_cast<size_t>(count) * sizeof(T)));
  }
  /// Sets the numbers to 0.
  void clear(int* numbers, int64_t count) const {
    HEARTH_CUDA(cudaMemsetAsync(numbers, 0, size_t(count) * sizeof(int), stream.stream));
  }
};

/// The matrices of a batch that are not finite. cuSOLVER may fail for the whole batch because of
/// one of them, so cuSOLVER gets zeros instead, and the results become NaN.
class NotFinite {
 public:
  NotFinite(const View& matrices, Part part, const SolverContext& solver)
      : ctx_(solver.ctx), sizes_(matrices), flags_(solver.scratch<int>(sizes_.count)) {
    find_not_finite(matrices, part, flags_, ctx_);
    fill_flagged(matrices, int64_t{sizes_.rows} * sizes_.columns, flags_, 0, ctx_);
  }
  /// Sets the results of these matrices to NaN.
  void set_nan(const View& result) const {
    if (result.defined() && result.numel > 0)
      fill_flagged(result, result.numel / sizes_.count, flags_, __builtin_nan(""), ctx_);
  }
  /// Sets info to on_nan for matrices with NaN, and to 0 for those with infinities only.
  void set_info(int* info, int on_nan) const {
    cuda::set_info(info, sizes_.count, flags_, on_nan, ctx_);
  }

 private:
  Ctx& ctx_;
  MatrixSizes sizes_;
  int* flags_;
};

inline cublasFillMode_t fill_mode(bool upper) {
  return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

/// b = op(a)^-1 b for a triangle of [rows, rows] and b of [rows, columns] with leading dimensions.
template <class T>
void solve_triangle(const NativeStream& stream, cublasFillMode_t triangle, cublasOperation_t op,
                    cublasDiagType_t diagonal, int rows, int columns, const T* a, int ld_a, T* b,
                    int ld_b) {
  const auto solve =
      Cusolver::get().*of_type<T>(&Cusolver::cublasStrsm_v2, &Cusolver::cublasDtrsm_v2);
  const T one = 1;
  check_cublas(solve(cublas_handle(stream), CUBLAS_SIDE_LEFT, triangle, op, diagonal, rows, columns,
                     &one, a, ld_a, b, ld_b),
               "trsm");
}

}  // namespace hearth::cuda
