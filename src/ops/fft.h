#pragma once

#include "core/op.h"
#include "hearth/operators.h"
#include "seam/fft.h"

namespace hearth {

/// The numbers along a transform's dimensions that it is divided by.
enum class FftNorm { kNone, kRoot, kAll };
double fft_scale(FftNorm norm, double numbers);

/// The transforms without checks, along dimensions that are in range; the scale multiplies.
Tensor fft_complex(const Tensor& self, const Dims& dims, double scale, bool forward);
/// Of a real tensor: all numbers or, if onesided, the first half along the last of the dimensions.
Tensor fft_of_real(const Tensor& self, const Dims& dims, double scale, bool forward, bool onesided);
/// Real numbers, `last` along the last of the dimensions, from their spectrum's first half there.
Tensor fft_to_real(const Tensor& self, const Dims& dims, int64_t last, double scale, bool forward);

}  // namespace hearth
