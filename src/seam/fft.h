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
/// minus if `forward`; n is the larger size of in and out along `dim`. The other sizes are equal;
/// `out` may be `in`.
///
/// In a real transform, the complex view has only the first n / 2 + 1 numbers of a Hermitian
/// sequence; the other numbers are conjugates of these. Imaginary parts of numbers that must be
/// real are not read. Numbers whose conjugate is left out are multiplied by `weight`. If `full`,
/// the complex view has all n numbers, and a real result is the real part of the transform.
struct FftParams {
  View in{}, out{};
  int dim = 0;
  FftKind kind = FftKind::kComplex;
  bool forward = true;
  bool full = false;
  double scale = 1, weight = 1;
};

}  // namespace hearth
