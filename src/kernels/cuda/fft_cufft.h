#pragma once

#include "seam/fft.h"

namespace hearth::cuda {

/// Transforms of contiguous lines, without a scale, as cuFFT computes them: n / 2 + 1 complex
/// numbers stand for a real line of n numbers; real to complex is forward, complex to real
/// backward.
struct FftCall {
  FftKind kind = FftKind::kComplex;
  bool is_double = false, forward = true;
  int64_t n = 0, count = 0;  // numbers in a whole line; number of lines
  void* in = nullptr;        // aligned to 16 bytes; destroyed by complex to real
  void* out = nullptr;
};
void run_cufft(const FftCall& call, Ctx& ctx);

}  // namespace hearth::cuda
