#pragma once

#include "hearth/vision/functional.h"

namespace hearth::vision::transforms {

/// The options of the floats with which an image is computed.
TensorOptions float_options(const Tensor& img);
/// Returns an image with the values of `img` at the points of grid_sample's grid
/// `[1, height, width, 2]`; points outside of `img` become `fill` (one value, or one per channel).
Tensor sampled(const Tensor& img, const Tensor& grid, InterpolationMode mode,
               ArrayRef<double> fill);

}  // namespace hearth::vision::transforms
