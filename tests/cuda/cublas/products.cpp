// Calls of cublasLt, against a fake that records the types of products.
#include <cublasLt.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/backends.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/stream.h"

namespace {

/// What the plugin asked cublasLt for.
struct FakeCublas {
  std::vector<cublasComputeType_t> products;  // of the descriptions that were run
  int num_proposals = 0;                      // the heuristic's calls
};
FakeCublas& fake() {
  static FakeCublas calls;
  return calls;
}

/// A description is its compute type.
cublasComputeType_t type_of(cublasLtMatmulDesc_t description) {
  return static_cast<cublasComputeType_t>(reinterpret_cast<intptr_t>(description));
}

}  // namespace

extern "C" {
const char* cublasLtGetStatusString(cublasStatus_t) { return "failed"; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t type,
                                        cudaDataType_t) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(static_cast<intptr_t>(type));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
                                              const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType, uint64_t,
                                          uint64_t, int64_t) {
  *layout = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t,
                                                cublasLtMatrixLayoutAttribute_t, const void*,
                                                size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* num_results) {
  ++fake().num_proposals;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *num_results = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void*,
                              const void*, cublasLtMatrixLayout_t, const void*,
                              cublasLtMatrixLayout_t, const void*, const void*,
                              cublasLtMatrixLayout_t, void*, cublasLtMatrixLayout_t,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) {
  fake().products.push_back(type_of(description));
  return CUBLAS_STATUS_SUCCESS;
}
}

namespace hearth::cuda {
namespace {

/// Runs a product of n x n matrices, or of a matrix and a vector.
cublasComputeType_t product(ScalarType dtype, uint32_t numerics, int64_t n, bool with_vector) {
  alignas(256) static char memory[256];
  NativeStream stream;
  Ctx ctx(cpu_backend(), Device(DeviceType::CUDA, 0), &stream, nullptr, numerics);
  Gemm gemm;
  gemm.dtype = dtype;
  gemm.rows = gemm.inner = n;
  gemm.columns = with_vector ? 1 : n;
  for (Matrix* matrix : {&gemm.a, &gemm.b, &gemm.c, &gemm.out}) {
    matrix->data = memory;
    matrix->leading = n;
  }
  EXPECT_TRUE(float_matmul(gemm, ctx));
  return fake().products.back();
}

TEST(CublasProducts, UseTF32WhereItIsAllowed) {
  const uint32_t others = kAllowTF32CuDNN | kUseCuDNN, allowed = others | kAllowTF32CuBLAS;
  EXPECT_EQ(product(kFloat, others, 64, false), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(product(kFloat, allowed, 64, false), CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(product(kFloat, allowed, 64, true), CUBLAS_COMPUTE_32F) << "a vector";
  EXPECT_EQ(product(kDouble, allowed, 64, false), CUBLAS_COMPUTE_64F);
  EXPECT_EQ(product(kBFloat16, allowed, 64, false), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(product(kComplexFloat, allowed, 64, false), CUBLAS_COMPUTE_32F);
}

TEST(CublasProducts, ChooseAlgorithmsForTF32Separately) {
  product(kFloat, 0, 96, false);
  const int before = fake().num_proposals;
  product(kFloat, 0, 96, false);
  EXPECT_EQ(fake().num_proposals, before) << "kept";
  product(kFloat, kAllowTF32CuBLAS, 96, false);
  EXPECT_EQ(fake().num_proposals, before + 1);
}

}  // namespace
}  // namespace hearth::cuda
