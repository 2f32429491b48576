#pragma once

#include <cstdint>

namespace hearth::cpu {

/// What random numbers need vectors for; one set for each target.
struct RandomLoops {
  /// to[i] = the number of bits[i] from [from, from + span); `high` and above become `from`.
  void (*uniform_float)(const uint32_t* bits, int64_t count, float from, float span, float high,
                        float* to);
  void (*uniform_double)(const uint64_t* bits, int64_t count, double from, double span, double high,
                         double* to);
  /// Makes normal numbers of `blocks` times 16 uniform ones from [0, 1), in place.
  void (*normal)(float* data, int64_t blocks, float mean, float deviation);
};

extern const RandomLoops random_loops_avx2;
extern const RandomLoops random_loops_generic;

}  // namespace hearth::cpu
