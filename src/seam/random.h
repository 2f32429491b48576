#pragma once

#include <cstdint>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = random numbers. With source.mt they are PyTorch's, drawn in the memory order of `out`.
/// Without it, element i in row-major order is a function of seed, offset and i only, and the
/// generator's offset has to advance by four (core/philox.h).
struct RandomParams {
  enum class Kind : int8_t {
    kUniform,          // [a, b)
    kNormal,           // mean a, standard deviation b
    kRandomInt,        // from … to - 1; all 64-bit integers if the difference is 0 (modulo 2^64)
    kRandom,           // 0 … the largest value of the dtype, or its last exact integer
    kBernoulli,        // 1 with probability a, else 0
    kBernoulliTensor,  // with one probability per element; kBadProbability outside [0, 1]
    kRandPerm,         // a random permutation of 0 … numel - 1, int64
    kExponential,      // rate a
  };
  Kind kind = Kind::kUniform;
  View out;
  View probabilities;  // float32 or float64, expanded to out's sizes
  double a = 0, b = 1;
  int64_t from = 0, to = 0;
  RandomSource source;
};

}  // namespace hearth
