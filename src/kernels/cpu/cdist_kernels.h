#pragma once

#include <cstdint>

#include "kernels/cdist_math.h"

namespace hearth::cpu {

inline constexpr int kNorms = 5;

/// The loops of cdist for one type: a row a and n rows b of the same width, without gaps.
struct CdistLoops {
  /// out[j] = the sum of |a - b[j]|^p, or the largest |a - b[j]|.
  using Distances = void (*)(const void* a, const void* b, int64_t n, int64_t width, double p,
                             void* out);
  /// out = the sum over j of factor[j] / p * the derivative by a of Distances' out[j]. For
  /// kInfinity without the division by p; dist[j] is then the largest difference.
  using Gradient = void (*)(const void* a, const void* b, int64_t n, int64_t width, double p,
                            const void* factor, const void* dist, void* out);
  Distances distances[kNorms];
  Gradient gradient[kNorms];  // null for kZero
};

struct CdistTable {
  CdistLoops f32, f64;
};

extern const CdistTable cdist_table_avx2;
extern const CdistTable cdist_table_avx512;
extern const CdistTable cdist_table_generic;

}  // namespace hearth::cpu
