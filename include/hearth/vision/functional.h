#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hearth/shape.h"
#include "hearth/tensor.h"

// torchvision.transforms.functional: operations on images [..., channels, height, width] of bytes
// (0 to 255) or floats (0 to 1).
namespace hearth::vision::transforms {

/// Interpolation of values between pixels.
enum class InterpolationMode : int8_t { NEAREST, NEAREST_EXACT, BILINEAR, BICUBIC };
/// Values outside an image: a constant, the edge, or the image mirrored without or with its edge.
enum class PaddingMode : int8_t { CONSTANT, EDGE, REFLECT, SYMMETRIC };

/// Height and width of the last two dimensions.
struct HEARTH_API ImageSize {
  int64_t height, width;
};
/// The corners {x, y} of a quadrilateral: top left, top right, bottom right, bottom left.
using Corners = std::array<std::array<int64_t, 2>, 4>;

namespace functional {

HEARTH_API ImageSize get_image_size(const Tensor& img);  ///< an image's height and width
/// The image in another dtype, with its values scaled to that dtype's range.
HEARTH_API Tensor convert_image_dtype(const Tensor& image, ScalarType dtype = kFloat);
/// (image - mean) / std for each channel, of a floating image.
HEARTH_API Tensor normalize(const Tensor& tensor, ArrayRef<double> mean, ArrayRef<double> std);

/// Size {height, width}, or {shorter edge}; the longer edge then has at most max_size pixels.
HEARTH_API Tensor resize(const Tensor& img, IntArrayRef size,
                         InterpolationMode interpolation = InterpolationMode::BILINEAR,
                         std::optional<int64_t> max_size = {}, bool antialias = true);
/// Padding is {all}, {left and right, top and bottom} or {left, top, right, bottom}.
HEARTH_API Tensor pad(const Tensor& img, IntArrayRef padding, double fill = 0,
                      PaddingMode padding_mode = PaddingMode::CONSTANT);
/// A part of the image; pixels outside the image are 0.
HEARTH_API Tensor crop(const Tensor& img, int64_t top, int64_t left, int64_t height, int64_t width);
HEARTH_API Tensor center_crop(const Tensor& img, IntArrayRef output_size);  ///< {size} or {h, w}
/// crop, then resize.
HEARTH_API Tensor resized_crop(const Tensor& img, int64_t top, int64_t left, int64_t height,
                               int64_t width, IntArrayRef size,
                               InterpolationMode interpolation = InterpolationMode::BILINEAR,
                               bool antialias = true);
/// Five parts of the size: at the four corners and in the centre.
HEARTH_API std::vector<Tensor> five_crop(const Tensor& img, IntArrayRef size);
/// five_crop of the image and of its mirror image.
HEARTH_API std::vector<Tensor> ten_crop(const Tensor& img, IntArrayRef size,
                                        bool vertical_flip = false);
HEARTH_API Tensor hflip(const Tensor& img);  ///< mirrored from left to right
HEARTH_API Tensor vflip(const Tensor& img);  ///< mirrored from top to bottom
/// Rotates counterclockwise around `center` {x, y}; `expand` enlarges the result to hold the whole
/// rotated image.
HEARTH_API Tensor rotate(const Tensor& img, double angle,
                         InterpolationMode interpolation = InterpolationMode::NEAREST,
                         bool expand = false, std::optional<std::array<double, 2>> center = {},
                         ArrayRef<double> fill = {});
/// Rotates clockwise, moves by `translate` {x, y} pixels, scales, and shears by degrees {x, y}.
HEARTH_API Tensor affine(const Tensor& img, double angle, std::array<int64_t, 2> translate,
                         double scale, std::array<double, 2> shear,
                         InterpolationMode interpolation = InterpolationMode::NEAREST,
                         ArrayRef<double> fill = {},
                         std::optional<std::array<double, 2>> center = {});
/// Warps the image so that the corners `startpoints` move to `endpoints`.
HEARTH_API Tensor perspective(const Tensor& img, const Corners& startpoints,
                              const Corners& endpoints,
                              InterpolationMode interpolation = InterpolationMode::BILINEAR,
                              ArrayRef<double> fill = {});
/// Moves the image's points by `displacement` [1, height, width, 2]: {x, y}, in halves of the
/// image's width and height.
HEARTH_API Tensor elastic_transform(const Tensor& img, const Tensor& displacement,
                                    InterpolationMode interpolation = InterpolationMode::BILINEAR,
                                    ArrayRef<double> fill = {});
/// The image with the values v in the rectangle of height h and width w at row i, column j.
HEARTH_API Tensor erase(const Tensor& img, int64_t i, int64_t j, int64_t h, int64_t w,
                        const Tensor& v, bool inplace = false);

HEARTH_API Tensor rgb_to_grayscale(const Tensor& img, int64_t num_output_channels = 1);
HEARTH_API Tensor adjust_brightness(const Tensor& img, double brightness_factor);
HEARTH_API Tensor adjust_contrast(const Tensor& img, double contrast_factor);
HEARTH_API Tensor adjust_saturation(const Tensor& img, double saturation_factor);
HEARTH_API Tensor adjust_hue(const Tensor& img, double hue_factor);  ///< from -0.5 to 0.5
HEARTH_API Tensor adjust_gamma(const Tensor& img, double gamma, double gain = 1);
HEARTH_API Tensor adjust_sharpness(const Tensor& img, double sharpness_factor);
HEARTH_API Tensor invert(const Tensor& img);  ///< 255 (of floats 1) minus each value
HEARTH_API Tensor posterize(const Tensor& img, int64_t bits);     ///< keeps each byte's upper bits
HEARTH_API Tensor solarize(const Tensor& img, double threshold);  ///< inverts values >= threshold
HEARTH_API Tensor autocontrast(const Tensor& img);                ///< stretches to the whole range
HEARTH_API Tensor equalize(const Tensor& img);                    ///< with an even histogram
/// Kernel and sigma are {both} or {x, y}; sigma's default is
/// 0.3 * ((kernel_size - 1) / 2 - 1) + 0.8.
HEARTH_API Tensor gaussian_blur(const Tensor& img, IntArrayRef kernel_size,
                                ArrayRef<double> sigma = {});

}  // namespace functional

}  // namespace hearth::vision::transforms
