// Products of floating and complex matrices by cublasLtMatmul, whose operands matmul.cpp prepares.
// Before the call, cublasLt's heuristic proposes up to eight algorithms, best first; they are kept
// for products with the same key_of(), and tried until cublasLt accepts one. Large products are
// bound by arithmetic, small ones by the launch.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/cuda/error.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // NVIDIA's recommendation for Hopper

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  detail::fail<Error>("cuBLAS error: ", cublasLtGetStatusString(status), " in ", call);
}
#define HEARTH_CUBLAS(call) check((call), #call)

/// The types with which cublasLt computes a dtype.
struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

/// Whether a product of float32 may round its inputs to TF32. Products with vectors are bound by
/// memory and would not become faster.
bool allows_tf32(const Gemm& gemm, const Ctx& ctx) {
  return gemm.dtype == kFloat && gemm.rows > 1 && gemm.columns > 1 && ctx.is_set(kAllowTF32CuBLAS);
}

Types types_of(ScalarType dtype, bool allow_tf32) {
  switch (dtype) {
    case kFloat:
      return {CUDA_R_32F, CUDA_R_32F,
              allow_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case kDouble: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kHalf: return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kBFloat16: return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kComplexFloat: return {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case kComplexDouble: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default: detail::fail<Error>("\"matmul\" not implemented for '", name_of(dtype), "'");
  }
}

/// alpha or beta in the scale type; the largest, complex<double>, has 16 bytes.
struct Factor {
  alignas(16) unsigned char bytes[16] = {};
  Factor(double value, cudaDataType_t scale) {
    const float rounded = static_cast<float>(value);
    if (scale == CUDA_R_32F || scale == CUDA_C_32F)
      std::memcpy(bytes, &rounded, sizeof rounded);
    else
      std::memcpy(bytes, &value, sizeof value);
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

void create_layout(Layout& layout, const Matrix& matrix, int64_t rows, int64_t columns,
                   const Gemm& gemm, const Types& types) {
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

/// All values that the choice of an algorithm depends on.
using Key = std::array<int64_t, 21>;

Key key_of(const Gemm& gemm, int device, bool allow_tf32) {
  Key key{device,
          static_cast<int64_t>(gemm.dtype),
          gemm.rows,
          gemm.columns,
          gemm.inner,
          gemm.batch,
          gemm.bias == nullptr ? 0 : int64_t{alignment_of(gemm.bias)},
          gemm.beta != 0,
          allow_tf32};
  size_t i = 9;
  for (const Matrix* matrix : {&gemm.a, &gemm.b, &gemm.c, &gemm.out}) {
    key[i++] = matrix->leading * 2 + matrix->transposed;
    key[i++] = matrix->batch_stride;
    key[i++] = alignment_of(matrix->data);
  }
  return key;
}

/// cublasLt's proposals for one product, best first, without those that it refused to run.
using Proposals = std::vector<cublasLtMatmulHeuristicResult_t>;

/// cublasLt's handles, one per device, and its proposals.
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

  bool find(const Key& key, Proposals& proposals) {
    const std::lock_guard lock(mutex_);
    const auto found = proposals_.find(key);
    if (found == proposals_.end()) return false;
    proposals = found->second;
    return true;
  }
  void remember(const Key& key, Proposals proposals) {
    constexpr size_t kMaxEntries = 4096;
    const std::lock_guard lock(mutex_);
    if (proposals_.size() >= kMaxEntries) proposals_.clear();
    proposals_[key] = std::move(proposals);
  }

 private:
  std::mutex mutex_;
  std::map<int, cublasLtHandle_t> handles_;
  std::map<Key, Proposals> proposals_;
};

/// A product with cublasLt's descriptors.
struct Call {
  const Gemm& gemm;
  const NativeStream& stream;
  cublasLtHandle_t handle;
  Types types;
  Description description;
  Layout a, b, c, out;

  Call(const Gemm& product, const NativeStream& native_stream, bool allow_tf32)
      : gemm(product),
        stream(native_stream),
        handle(Library::get().handle(native_stream.device)),
        types(types_of(product.dtype, allow_tf32)) {
    describe(description, gemm, types);
    create_layout(a, gemm.a, gemm.rows, gemm.inner, gemm, types);
    create_layout(b, gemm.b, gemm.inner, gemm.columns, gemm, types);
    create_layout(c, gemm.c, gemm.rows, gemm.columns, gemm, types);
    create_layout(out, gemm.out, gemm.rows, gemm.columns, gemm, types);
  }
};

/// Whether an error only means that cublasLt does not support this algorithm or product.
bool is_refusal(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
         status == CUBLAS_STATUS_ARCH_MISMATCH;
}

Proposals request_proposals(const Call& call) {
  constexpr int kMaxProposals = 8;
  const Gemm& gemm = call.gemm;
  Preference preference;
  HEARTH_CUBLAS(cublasLtMatmulPreferenceCreate(preference.out()));
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(gemm.a.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(gemm.b.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(gemm.c.data));
  const uint32_t out_alignment = alignment_of(gemm.out.data);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
      gemm.bias == nullptr ? out_alignment : std::min(out_alignment, alignment_of(gemm.bias)));
  Proposals proposals(kMaxProposals);
  int num_found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      call.handle, call.description.get(), call.a.get(), call.b.get(), call.c.get(), call.out.get(),
      preference.get(), kMaxProposals, proposals.data(), &num_found);
  if (!is_refusal(status)) check(status, "cublasLtMatmulAlgoGetHeuristic");
  proposals.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<size_t>(num_found) : 0);
  std::erase_if(proposals, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
  return proposals;
}

/// Runs one proposal; returns false if cublasLt refuses it.
bool run_proposal(const Call& call, const cublasLtMatmulHeuristicResult_t& proposal, Ctx& ctx) {
  const Gemm& gemm = call.gemm;
  const Factor alpha(gemm.alpha, call.types.scale), beta(gemm.beta, call.types.scale);
  void* const workspace = ctx.scratch(proposal.workspaceSize);
  const cublasStatus_t status = cublasLtMatmul(
      call.handle, call.description.get(), alpha.bytes, gemm.a.data, call.a.get(), gemm.b.data,
      call.b.get(), beta.bytes, gemm.c.data, call.c.get(), const_cast<void*>(gemm.out.data),
      call.out.get(), &proposal.algo, workspace, proposal.workspaceSize, call.stream.stream);
  if (is_refusal(status)) return false;
  check(status, "cublasLtMatmul");
  return true;
}

}  // namespace

bool float_matmul(const Gemm& gemm, Ctx& ctx) {
  const bool allow_tf32 = allows_tf32(gemm, ctx);
  const Call call(gemm, stream_of(ctx), allow_tf32);
  const Key key = key_of(gemm, call.stream.device, allow_tf32);
  Proposals proposals;
  bool is_changed = !Library::get().find(key, proposals);
  if (is_changed) proposals = request_proposals(call);
  // If the workspace of one proposal does not fit, later proposals may need less.
  std::optional<OutOfMemoryError> no_memory;
  for (size_t i = 0; i < proposals.size();) {
    try {
      if (run_proposal(call, proposals[i], ctx)) {
        if (is_changed) Library::get().remember(key, std::move(proposals));
        return true;
      }
      proposals.erase(proposals.begin() + static_cast<ptrdiff_t>(i));
      is_changed = true;
    } catch (const OutOfMemoryError& error) {
      no_memory = error;
      ++i;
    }
  }
  if (is_changed) Library::get().remember(key, std::move(proposals));
  if (no_memory) throw OutOfMemoryError(*no_memory);
  return false;
}

}  // namespace hearth::cuda
