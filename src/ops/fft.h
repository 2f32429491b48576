#pragma once

#include "core/op.h"
#include "hearth/operators.h"
#include "seam/fft.h"

namespace hearth {

/// The divisor of a transform of n numbers: 1, sqrt(n) or n.
enum class FftNorm { kNone, kByRootN, kByN };
double fft_scale(FftNorm norm, double numbers);  // 1 / the divisor

/// Transforms without checks: the dimensions are in range, and results are multiplied by `scale`.
Tensor fft_complex(const Tensor& self, const Dims& dims, double scale, bool forward);
/// The transform of a real tensor; if onesided, only its first half along the last of the
/// dimensions.
Tensor fft_of_real(const Tensor& self, const Dims& dims, double scale, bool forward, bool onesided);
/// The real transform of a Hermitian tensor, given its first half along the last of the dimensions;
/// the result's size there is `last`.
Tensor fft_to_real(const Tensor& self, const Dims& dims, int64_t last, double scale, bool forward);

}  // namespace hearth
