#pragma once

#include "kernels/cpu/matmul_gemm.h"
#include "seam/conv.h"
#include "seam/view.h"

/// What Hearth uses of oneDNN, 2.6 to 3.x.
namespace hearth::cpu::onednn {

/// The float32 product, on this thread, as all that is here.
void multiply(const Gemm& gemm);

/// Whether this processor multiplies matrices of this dtype directly.
bool has_matmul(ScalarType dtype);

/// out = a @ b + beta * out for batches of matrices (3-D) of float32 or a half type, added up in
/// float32. False, with nothing done, where oneDNN cannot.
bool matmul(const View& a, const View& b, const View& out, double beta);

/// Whether oneDNN is the way to compute this convolution, by its shape.
bool suits_conv(const ConvParams& params);
/// The convolution of float32 or bfloat16 tensors that are contiguous or channels_last. False, with
/// nothing done, where oneDNN cannot, or not fast.
bool conv(const ConvParams& params, Ctx& ctx);

}  // namespace hearth::cpu::onednn
