#include "kernels/cuda/cusolver_library.h"

namespace hearth::cuda {

namespace {

struct OpenedSolver {
  // No further dependency: cuSOLVER itself uses cuBLAS.
  LibraryFile blas{"libcublas.so." HEARTH_TEXT(CUBLAS_VER_MAJOR)};
  LibraryFile solver{"libcusolver.so." HEARTH_TEXT(CUSOLVER_VER_MAJOR)};
  Cusolver functions;

  OpenedSolver() {
#define HEARTH_FIND(name) solver.find(#name, functions.name);
#define HEARTH_FIND_PAIR(name)   \
  HEARTH_FIND(cusolverDnS##name) \
  HEARTH_FIND(cusolverDnD##name)
#define HEARTH_FIND_IN_BLAS(name) blas.find(#name, functions.name);
    HEARTH_CUSOLVER_FUNCTIONS(HEARTH_FIND)
    HEARTH_CUSOLVER_PAIRS(HEARTH_FIND_PAIR)
    HEARTH_CUBLAS_FUNCTIONS(HEARTH_FIND_IN_BLAS)
#undef HEARTH_FIND_IN_BLAS
#undef HEARTH_FIND_PAIR
#undef HEARTH_FIND
  }
  const std::string& why_not() const {
    return blas.why_not().empty() ? solver.why_not() : blas.why_not();
  }
};

cusolverDnHandle_t create_solver_handle() {
  cusolverDnHandle_t handle = nullptr;
  check_cusolver(Cusolver::get().cusolverDnCreate(&handle), "cusolverDnCreate");
  return handle;
}
cublasHandle_t create_blas_handle() {
  cublasHandle_t handle = nullptr;
  check_cublas(Cusolver::get().cublasCreate_v2(&handle), "cublasCreate");
  return handle;
}

}  // namespace

const Cusolver& Cusolver::get() {
  static const OpenedSolver& opened = *new OpenedSolver;
  HEARTH_CHECK_AS(NotImplementedError, opened.why_not().empty(),
                  "linear algebra on CUDA needs cuSOLVER and cuBLAS, which could not be opened: ",
                  opened.why_not());
  return opened.functions;
}

namespace {

/// cuSOLVER has no texts for its errors.
const char* reason_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED: return "the library could not be initialised";
    case CUSOLVER_STATUS_ALLOC_FAILED: return "out of memory on the GPU; use smaller batches";
    case CUSOLVER_STATUS_INVALID_VALUE: return "a size is not supported";
    case CUSOLVER_STATUS_ARCH_MISMATCH: return "the GPU is not supported";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "the computation failed; the matrix may contain NaN or infinity";
    case CUSOLVER_STATUS_INTERNAL_ERROR: return "internal error of the library";
    case CUSOLVER_STATUS_NOT_SUPPORTED: return "not supported by this version of the library";
    default: return "unknown reason";
  }
}

}  // namespace

void check_cusolver(cusolverStatus_t status, const char* call) {
  HEARTH_CHECK(status == CUSOLVER_STATUS_SUCCESS, "cuSOLVER error ", int(status), " in ", call,
               ": ", reason_of(status));
}
void check_cublas(cublasStatus_t status, const char* call) {
  HEARTH_CHECK(status == CUBLAS_STATUS_SUCCESS, "cuBLAS error ", int(status), " in ", call);
}

cusolverDnHandle_t cusolver_handle(const NativeStream& stream) {
  const auto handle = LibraryHandles<cusolverDnHandle_t, create_solver_handle>::get(stream.device);
  check_cusolver(Cusolver::get().cusolverDnSetStream(handle, stream.stream), "cusolverDnSetStream");
  return handle;
}
cublasHandle_t cublas_handle(const NativeStream& stream) {
  const auto handle = LibraryHandles<cublasHandle_t, create_blas_handle>::get(stream.device);
  check_cublas(Cusolver::get().cublasSetStream_v2(handle, stream.stream), "cublasSetStream");
  return handle;
}

}  // namespace hearth::cuda
