#pragma once

#include "kernels/cpu/matmul_gemm.h"
#include "kernels/view.h"

/// What Hearth uses of oneDNN, 2.6 to 3.x.
namespace hearth::cpu::onednn {

/// The float32 product, on all threads.
void multiply(const Gemm& gemm);

/// Whether this processor multiplies matrices of this dtype directly.
bool has_matmul(ScalarType dtype);

/// out = a @ b + beta * out for batches of matrices (3-D) of float32 or a half type, added up in
/// float32. False, with nothing done, where oneDNN cannot.
bool matmul(const View& a, const View& b, const View& out, double beta);

}  // namespace hearth::cpu::onednn
