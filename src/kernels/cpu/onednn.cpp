// Products of matrices by oneDNN, on the calling thread; the callers divide large products. Bound
// by the multiplications, small products by the cost of a call.
#include "kernels/cpu/onednn.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <optional>

#include "core/process_end.h"
#include "core/threads.h"
#include "hearth/error.h"
#include "kernels/cpu/onednn_engine.h"

namespace hearth::cpu::onednn {

namespace {

/// A batch of stride 0 becomes one of size 1, because oneDNN broadcasts only batches of size 1.
dnnl::memory::desc descriptor(const View& view) {
  dnnl::memory::dims sizes(view.sizes, view.sizes + view.dim);
  dnnl::memory::dims strides(view.strides, view.strides + view.dim);
  if (strides[0] == 0) {
    sizes[0] = 1;
    strides[0] = sizes[1] * sizes[2];
  }
  return {sizes, data_type(view.dtype), strides};
}

dnnl::memory memory(const View& view) { return {descriptor(view), engine(), view.data}; }

dnnl::matmul::primitive_desc matmul_descriptor(const dnnl::memory::desc& a,
                                               const dnnl::memory::desc& b,
                                               const dnnl::memory::desc& out, double beta) {
  dnnl::primitive_attr attributes;
  if (beta != 0) {
    dnnl::post_ops add;
    add.append_sum(static_cast<float>(beta));
    attributes.set_post_ops(add);
  }
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, out, attributes};
#else
  return {dnnl::matmul::desc(a, b, out), attributes, engine()};
#endif
}

bool can_multiply(DataType type) {
  const LibraryCall call;
  check_free_memory();
  const dnnl::memory::desc square({16, 16}, type, dnnl::memory::dims{16, 1});
  try {
    matmul_descriptor(square, square, square, 0);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

/// Whether to call check_free_memory(): oneDNN compiles code for the first product of each kind,
/// and a check before every product would be slow. After the first ones, checks become ever rarer.
bool may_be_new() {
  constexpr unsigned kAlwaysChecked = 64;
  static std::atomic<unsigned> products{0};
  const unsigned before = products.fetch_add(1, std::memory_order_relaxed);
  return before < kAlwaysChecked || std::has_single_bit(before);
}

/// Whether dnnl_sgemm may compute with a stack pointer that points into the heap: not for products
/// with a vector, nor with few terms, whose buffer is on the stack.
bool moves_stack(const Gemm& g) {
  constexpr int64_t kMaxTermsOnStack = 64;
  return g.m > 1 && g.n > 1 && g.k > kMaxTermsOnStack;
}

/// The first product creates static objects of oneDNN. Computes one while ProtectedStatics exists,
/// so that the end of the process waits for running products before it destroys the objects.
void prepare_products() {
  [[maybe_unused]] static const bool once = [] {
    const float factors[16] = {};
    float product[16];
    const ProtectedStatics statics;
    limit_instructions();
    dnnl_sgemm('N', 'N', 4, 4, 4, 1, factors, 4, factors, 4, 0, product, 4);
    return true;
  }();
}

}  // namespace

void check_free_memory() {
  constexpr size_t kNeededBytes = size_t{32} << 20;
  void* const probe = ::mmap(nullptr, kNeededBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HEARTH_CHECK_AS(OutOfMemoryError, probe != MAP_FAILED,
                  "DefaultCPUAllocator: not enough memory: the process cannot get the ",
                  kNeededBytes >> 20, " MiB that oneDNN may need to prepare a computation");
  ::munmap(probe, kNeededBytes);
}

void multiply(const Gemm& g) {
  const LibraryCall call;
  const LibraryThreadsGuard guard;
  if (may_be_new()) check_free_memory();
  prepare_products();
  std::optional<NoSignals> no_signals;
  if (moves_stack(g)) no_signals.emplace();
  const auto letter = [](const GemmOperand& operand) { return operand.transposed ? 'T' : 'N'; };
  const dnnl_status_t status =
      dnnl_sgemm(letter(g.a), letter(g.b), g.m, g.n, g.k, static_cast<float>(g.alpha),
                 static_cast<const float*>(g.a.data), g.a.ld, static_cast<const float*>(g.b.data),
                 g.b.ld, static_cast<float>(g.beta), static_cast<float*>(g.out), g.ld_out);
  HEARTH_CHECK_AS(
      OutOfMemoryError, status == dnnl_success,
      "DefaultCPUAllocator: not enough memory for a product of matrices (oneDNN's status ",
      int(status), ")");
}

bool has_matmul(ScalarType dtype) {
  static const bool bfloat16 = can_multiply(DataType::bf16);
  static const bool half = can_multiply(DataType::f16);
  return dtype == kFloat || (dtype == kBFloat16 && bfloat16) || (dtype == kHalf && half);
}

bool matmul(const View& a, const View& b, const View& out, double beta) {
  const LibraryCall call;
  const LibraryThreadsGuard guard;
  if (may_be_new()) check_free_memory();
  try {
    const dnnl::matmul primitive(
        matmul_descriptor(descriptor(a), descriptor(b), descriptor(out), beta));
    dnnl::stream stream(engine());
    primitive.execute(
        stream,
        {{DNNL_ARG_SRC, memory(a)}, {DNNL_ARG_WEIGHTS, memory(b)}, {DNNL_ARG_DST, memory(out)}});
    stream.wait();
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace hearth::cpu::onednn
