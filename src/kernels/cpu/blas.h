#pragma once

#include "kernels/cpu/matmul_gemm.h"

namespace hearth::cpu::blas {

/// Whether the product's sizes and leading dimensions fit into the BLAS's 32-bit integers.
bool can_express(const Gemm& gemm);

/// Computes a product of float, double or complex matrices on the calling thread.
void multiply(const Gemm& gemm);

}  // namespace hearth::cpu::blas
