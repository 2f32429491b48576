#pragma once

#include "hearth/tensor.h"

namespace hearth::app {

/// The middle of an image [channels, h, w] of bytes, resized to height and width, as numbers from 0
/// to 1. An image of that size is only converted.
Tensor fit_image(const Tensor& image, int64_t height, int64_t width);

}  // namespace hearth::app
