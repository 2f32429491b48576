#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The vectorised loops of random numbers, for one instruction set.
struct RandomLoops {
  /// Computes the next state of a Mersenne twister, and its output.
  void (*refill)(uint32_t* state, uint32_t* output);
  /// to[i] = low + span * the number in [0, 1) of bits[i]; numbers that are rounded up to `high` or
  /// above become `low`.
  void (*uniform_float)(const uint32_t* bits, int64_t count, float low, float span, float high,
                        float* to);
  void (*uniform_double)(const uint64_t* bits, int64_t count, double low, double span, double high,
                         double* to);
  /// to[i] = whether the lower 53 bits of a 64-bit number are below the threshold. Word 2 i has the
  /// number's higher 32 bits, word 2 i + 1 the lower ones.
  void (*below)(const uint32_t* words, int64_t count, uint64_t threshold, bool* to);
  /// Dropout: computes `mask` like below(); out[i] = in[i] * scale if mask[i], else in[i] * 0.
  void (*dropout)(const uint32_t* words, int64_t count, uint64_t threshold, float scale,
                  const float* in, bool* mask, float* out);
  /// Transforms `blocks` times 16 uniform numbers from [0, 1) into normal ones, in place.
  void (*normal)(float* data, int64_t blocks, float mean, float deviation);
};

extern const RandomLoops random_loops_avx2;
extern const RandomLoops random_loops_generic;

#if defined(HEARTH_CPU_AVX2)
inline constexpr const RandomLoops& random_loops = random_loops_avx2;
#else
inline constexpr const RandomLoops& random_loops = random_loops_generic;
#endif

}  // namespace hearth::cpu
