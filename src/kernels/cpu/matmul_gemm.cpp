// Chooses BLAS or oneDNN for a product on the calling thread.
#include "kernels/cpu/matmul_gemm.h"

#include "kernels/cpu/blas.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/onednn.h"

namespace hearth::cpu {

namespace {

/// Whether the terms of a sum lie a multiple of 4 KiB apart, so that they share cache sets: with
/// AVX2, oneDNN takes twice as long then, and BLAS does not (mm of [2048, 256] by [256, 1024]).
bool has_cache_conflicts(const Gemm& gemm) {
  return isa_level() == IsaLevel::kAvx2 && ((!gemm.b.transposed && shares_cache_sets(gemm.b.ld)) ||
                                            (gemm.a.transposed && shares_cache_sets(gemm.a.ld)));
}

}  // namespace

double max_blas_work() { return isa_level() == IsaLevel::kAvx2 ? 64e3 : 600e3; }

bool can_multiply(const Gemm& gemm) { return gemm.dtype == kFloat || blas::can_express(gemm); }

void multiply(const Gemm& gemm) {
  const bool is_dot = gemm.m == 1 && gemm.n == 1;
  const bool has_vector = gemm.m == 1 || gemm.n == 1;
  const bool suits_blas =
      is_dot || (!has_vector && (gemm.work() <= max_blas_work() || has_cache_conflicts(gemm)));
  if (gemm.dtype != kFloat || (suits_blas && blas::can_express(gemm)))
    blas::multiply(gemm);
  else
    onednn::multiply(gemm);
}

}  // namespace hearth::cpu
