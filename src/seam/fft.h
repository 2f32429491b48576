#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The numbers on both sides of a Fourier transform.
enum class FftKind : unsigned char {
  kComplex,        // complex to complex
  kRealToComplex,  // real to complex
  kComplexToReal,  // complex to real
};

/// out[k] = scale * the sum over j of in[j] * exp(-+ 2 pi i j k / n) along dimension `dim`, with
/// minus if `forward`. Sizes along the other dimensions are equal; `out` may be `in`.
///
/// A complex side of a real transform has n / 2 + 1 numbers, the first half of a Hermitian
/// sequence: a result leaves out the rest, an input implies it, and the imaginary parts of numbers
/// that must be real are not read. The numbers whose mirror image is left out are multiplied by
/// `weight`. If `full`, the complex side has all n numbers, and a real result is the real part of
/// the transform.
struct FftParams {
  View in{}, out{};
  int dim = 0;
  FftKind kind = FftKind::kComplex;
  bool forward = true;
  bool full = false;
  double scale = 1, weight = 1;
};

}  // namespace hearth
