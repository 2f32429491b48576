#pragma once

#include <string_view>

#include "hearth/tensor.h"

namespace hearth::vision {

/// Returns the orientation in Exif data (a TIFF header with its tags): 1 to 8, or 0 without one.
int exif_orientation(std::string_view exif);
/// Returns the image `[channels, height, width]` upright: turned and mirrored as `orientation`
/// says.
Tensor upright(const Tensor& image, int orientation);

}  // namespace hearth::vision
