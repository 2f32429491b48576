#include "kernels/cpu/onednn.h"

#include "core/threads.h"
#include "kernels/cpu/onednn_engine.h"

namespace hearth::cpu::onednn {

namespace {

/// oneDNN broadcasts batches of size 1, not of stride 0.
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
  const dnnl::memory::desc square({16, 16}, type, dnnl::memory::dims{16, 1});
  try {
    matmul_descriptor(square, square, square, 0);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

void multiply(const Gemm& g) {
  const LibraryThreadsGuard guard;
  const auto letter = [](const GemmOperand& operand) { return operand.transposed ? 'T' : 'N'; };
  dnnl_sgemm(letter(g.a), letter(g.b), g.m, g.n, g.k, static_cast<float>(g.alpha),
             static_cast<const float*>(g.a.data), g.a.ld, static_cast<const float*>(g.b.data),
             g.b.ld, static_cast<float>(g.beta), static_cast<float*>(g.out), g.ld_out);
}

bool has_matmul(ScalarType dtype) {
  static const bool bfloat16 = can_multiply(DataType::bf16);
  static const bool half = can_multiply(DataType::f16);
  return dtype == kFloat || (dtype == kBFloat16 && bfloat16) || (dtype == kHalf && half);
}

bool matmul(const View& a, const View& b, const View& out, double beta) {
  const LibraryThreadsGuard guard;
  try {
    const dnnl::matmul multiply_them(
        matmul_descriptor(descriptor(a), descriptor(b), descriptor(out), beta));
    dnnl::stream stream(engine());
    multiply_them.execute(
        stream,
        {{DNNL_ARG_SRC, memory(a)}, {DNNL_ARG_WEIGHTS, memory(b)}, {DNNL_ARG_DST, memory(out)}});
    stream.wait();
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace hearth::cpu::onednn
