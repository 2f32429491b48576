#pragma once

#include "core/blocked_signals.h"
#include "kernels/cpu/matmul_gemm.h"
#include "seam/conv.h"
#include "seam/view.h"

/// Products and convolutions by oneDNN (2.6 to 3.x).
namespace hearth::cpu::onednn {

/// Blocks signals while oneDNN computes: before version 3.12, the stack pointer of some of its
/// kernels points into the heap, where a signal handler's stack frame would overwrite other data
/// (oneDNN's issue 4845). multiply() and conv() do this themselves; a caller may do it once for
/// many products.
using NoSignals = BlockedSignals;

/// Computes the float32 product, on the calling thread.
void multiply(const Gemm& gemm);

/// Whether oneDNN multiplies matrices of this dtype on this processor without converting them.
bool has_matmul(ScalarType dtype);

/// out = a @ b + beta * out for batches of matrices (3-D) of float32 or a half type, summed in
/// float32, on the calling thread. Returns false, without an effect, if oneDNN cannot compute it.
bool matmul(const View& a, const View& b, const View& out, double beta);

/// Whether oneDNN is expected to be fast for a convolution of this shape.
bool suits_conv(const ConvParams& params);
/// Computes the convolution of float32 or bfloat16 tensors that are contiguous or channels_last.
/// Returns false, without an effect, if oneDNN cannot compute it or would be slow.
bool conv(const ConvParams& params, Ctx& ctx);

}  // namespace hearth::cpu::onednn
