#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "kernels/cuda/error.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // what NVIDIA advises for Hopper

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  detail::fail<Error>("cuBLAS error: ", cublasLtGetStatusString(status), " in ", call);
}
#define HEARTH_CUBLAS(call) check((call), #call)

/// The types that cublasLt computes a dtype with.
struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

Types types_of(ScalarType dtype) {
  switch (dtype) {
    case kFloat: return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kDouble: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kHalf: return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kBFloat16: return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kComplexFloat: return {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case kComplexDouble: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default: detail::fail<Error>("\"matmul\" not implemented for '", name_of(dtype), "'");
  }
}

/// alpha or beta in the scale type.
struct Factor16 {
  alignas(16) unsigned char bytes[16] = {};
  Factor16(double value, cudaDataType_t scale) {
    const float narrow = static_cast<float>(value);
    const bool is_float = scale == CUDA_R_32F || scale == CUDA_C_32F;
    std::memcpy(bytes, is_float ? static_cast<const void*>(&narrow) : &value, is_float ? 4 : 8);
  }
};

/// Owns a cublasLt object.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != nullptr) destroy(handle_);
  }
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, T value) {
  HEARTH_CUBLAS(
      cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof(value)));
}
template <class T>
void set(const Layout& layout, cublasLtMatrixLayoutAttribute_t attribute, T value) {
  HEARTH_CUBLAS(cublasLtMatrixLayoutSetAttribute(layout.get(), attribute, &value, sizeof(value)));
}
template <class T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, T value) {
  HEARTH_CUBLAS(
      cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)));
}

void describe(Description& description, const Gemm& gemm, const Types& types) {
  HEARTH_CUBLAS(cublasLtMatmulDescCreate(description.out(), types.compute, types.scale));
  const auto operation = [](const Matrix& matrix) {
    return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  set(description, CUBLASLT_MATMUL_DESC_TRANSA, operation(gemm.a));
  set(description, CUBLASLT_MATMUL_DESC_TRANSB, operation(gemm.b));
  if (gemm.bias == nullptr) return;
  set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  set(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, gemm.bias);
}

void lay_out(Layout& layout, const Matrix& matrix, int64_t rows, int64_t columns, const Gemm& gemm,
             const Types& types) {
  if (matrix.transposed) std::swap(rows, columns);
  HEARTH_CUBLAS(cublasLtMatrixLayoutCreate(layout.out(), types.data, static_cast<uint64_t>(rows),
                                           static_cast<uint64_t>(columns), matrix.leading));
  if (gemm.batch == 1) return;
  set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(gemm.batch));
  set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
}

/// The largest power of two, up to 256, that divides an address.
uint32_t alignment_of(const void* data) {
  uint32_t alignment = 256;
  while (reinterpret_cast<uintptr_t>(data) % alignment != 0) alignment /= 2;
  return alignment;
}

/// All that the choice of an algorithm depends on.
using Key = std::array<int64_t, 22>;

Key key_of(const Gemm& gemm, int device) {
  Key key{device,
          static_cast<int64_t>(gemm.dtype),
          gemm.rows,
          gemm.columns,
          gemm.inner,
          gemm.batch,
          gemm.bias == nullptr ? 0 : int64_t{alignment_of(gemm.bias)},
          gemm.beta != 0};
  size_t i = 8;
  for (const Matrix* matrix : {&gemm.a, &gemm.b, &gemm.c, &gemm.out}) {
    key[i++] = matrix->leading * 2 + matrix->transposed;
    key[i++] = matrix->batch_stride;
    key[i++] = alignment_of(matrix->data);
  }
  return key;
}

/// cublasLt's handles, one per device, and the algorithms that it chose; both live as long as the
/// process.
class Library {
 public:
  static Library& get() {
    static auto* library = new Library;
    return *library;
  }

  cublasLtHandle_t handle(int device) {
    const std::lock_guard lock(mutex_);
    cublasLtHandle_t& handle = handles_[device];
    if (handle == nullptr) HEARTH_CUBLAS(cublasLtCreate(&handle));
    return handle;
  }

  bool find(const Key& key, cublasLtMatmulAlgo_t& algorithm) {
    const std::lock_guard lock(mutex_);
    const auto found = algorithms_.find(key);
    if (found == algorithms_.end()) return false;
    algorithm = found->second;
    return true;
  }
  void remember(const Key& key, const cublasLtMatmulAlgo_t& algorithm) {
    constexpr size_t kMost = 4096;
    const std::lock_guard lock(mutex_);
    if (algorithms_.size() >= kMost) algorithms_.clear();
    algorithms_[key] = algorithm;
  }

 private:
  std::mutex mutex_;
  std::map<int, cublasLtHandle_t> handles_;
  std::map<Key, cublasLtMatmulAlgo_t> algorithms_;
};

struct Layouts {
  Layout a, b, c, out;
};

cublasLtMatmulAlgo_t choose(const Gemm& gemm, cublasLtHandle_t handle,
                            const Description& description, const Layouts& layouts) {
  Preference preference;
  HEARTH_CUBLAS(cublasLtMatmulPreferenceCreate(preference.out()));
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(gemm.a.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(gemm.b.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(gemm.c.data));
  const uint32_t out_alignment = alignment_of(gemm.out.data);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
      gemm.bias == nullptr ? out_alignment : std::min(out_alignment, alignment_of(gemm.bias)));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  HEARTH_CUBLAS(cublasLtMatmulAlgoGetHeuristic(handle, description.get(), layouts.a.get(),
                                               layouts.b.get(), layouts.c.get(), layouts.out.get(),
                                               preference.get(), 1, &best, &found));
  HEARTH_CHECK(found > 0, "cuBLAS has no algorithm for a matrix product of ", gemm.rows, " x ",
               gemm.inner, " by ", gemm.inner, " x ", gemm.columns);
  return best.algo;
}

}  // namespace

void float_matmul(const Gemm& gemm, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const Types types = types_of(gemm.dtype);
  Library& library = Library::get();
  const cublasLtHandle_t handle = library.handle(stream.device);
  Description description;
  describe(description, gemm, types);
  Layouts layouts;
  lay_out(layouts.a, gemm.a, gemm.rows, gemm.inner, gemm, types);
  lay_out(layouts.b, gemm.b, gemm.inner, gemm.columns, gemm, types);
  lay_out(layouts.c, gemm.c, gemm.rows, gemm.columns, gemm, types);
  lay_out(layouts.out, gemm.out, gemm.rows, gemm.columns, gemm, types);

  const Key key = key_of(gemm, stream.device);
  cublasLtMatmulAlgo_t algorithm;
  if (!library.find(key, algorithm)) {
    algorithm = choose(gemm, handle, description, layouts);
    library.remember(key, algorithm);
  }
  const Factor16 alpha(gemm.alpha, types.scale), beta(gemm.beta, types.scale);
  void* workspace = ctx.scratch(kWorkspaceBytes);
  HEARTH_CUBLAS(cublasLtMatmul(handle, description.get(), alpha.bytes, gemm.a.data, layouts.a.get(),
                               gemm.b.data, layouts.b.get(), beta.bytes, gemm.c.data,
                               layouts.c.get(), const_cast<void*>(gemm.out.data), layouts.out.get(),
                               &algorithm, workspace, kWorkspaceBytes, stream.stream));
}

}  // namespace hearth::cuda
