#pragma once

#include <cstdint>

#include "hearth/dtype.h"

namespace hearth::cpu {

/// A row-major matrix, or the transpose of one, whose rows start `ld` elements apart.
struct GemmOperand {
  const void* data = nullptr;
  int64_t ld = 0;
  bool transposed = false;
};

/// out[m, n] = alpha * a[m, k] @ b[k, n] + beta * out, with BLAS's arguments; out is row-major.
struct Gemm {
  ScalarType dtype = ScalarType::Undefined;
  int64_t m = 0, n = 0, k = 0;
  GemmOperand a, b;
  double alpha = 1, beta = 0;
  void* out = nullptr;
  int64_t ld_out = 0;

  /// Multiplications; a double because the product may not fit an integer.
  double work() const { return double(m) * double(n) * double(k); }
};

/// The number of multiplications up to which BLAS is about as fast as oneDNN or faster, measured by
/// bench/kernels/matmul.cpp.
double max_blas_work();
/// Whether rows of this length start in the same cache sets.
inline bool shares_cache_sets(int64_t floats) { return floats % 1024 == 0; }

/// Whether multiply() can compute a product with these sizes and leading dimensions.
bool can_multiply(const Gemm& gemm);
/// Computes a product of float, double or complex matrices on the calling thread, with the library
/// that suits its size.
void multiply(const Gemm& gemm);

}  // namespace hearth::cpu
