#pragma once

#include "seam/matmul.h"

namespace hearth::cuda {

/// Computes the product of integers or bools; c is read only if add_c.
void integer_matmul(const MatmulParams& params, bool add_c, Ctx& ctx);

/// A matrix in cublasLt's terms: column-major with a leading dimension, perhaps transposed.
struct Matrix {
  const void* data = nullptr;
  bool transposed = false;
  int64_t leading = 1;
  int64_t batch_stride = 0;
};

/// out = beta * c + alpha * a @ b in cublasLt's column-major terms: out is [rows, columns], not
/// transposed.
struct Gemm {
  ScalarType dtype = ScalarType::Undefined;
  int64_t rows = 0, columns = 0, inner = 0, batch = 1;
  Matrix a, b, c, out;
  const void* bias = nullptr;  // one value per row, added at the end; may be null
  double alpha = 1;
  double beta = 0;  // 0: c is not read
};

/// Computes the product of floating or complex dtypes. Returns false, without an effect, if
/// cublasLt has no algorithm.
bool float_matmul(const Gemm& gemm, Ctx& ctx);

}  // namespace hearth::cuda
