#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "vision/sampling.h"
#include "vision/values.h"

namespace hearth::vision::transforms::functional {

namespace {

namespace F = hearth::nn::functional;

using Point = std::array<double, 2>;
/// The rows of a 2 x 3 matrix that maps points of the result to points of the image, both relative
/// to the centres.
using Matrix = std::array<double, 6>;

ImageSize height_and_width(IntArrayRef size) {
  HEARTH_CHECK_AS(ValueError, size.size() == 1 || size.size() == 2,
                  "Size must be an int or a 1 or 2 element tuple/list, not a ", size.size(),
                  " element tuple/list");
  return {size.front(), size.back()};
}

/// Returns the size with the image's proportions and this shorter edge, or with a longer edge of
/// `max_size` if it would exceed that.
ImageSize proportional(ImageSize image, int64_t shorter, std::optional<int64_t> max_size) {
  const bool is_tall = image.width <= image.height;
  const int64_t short_edge = is_tall ? image.width : image.height,
                long_edge = is_tall ? image.height : image.width;
  ImageSize size{shorter, int64_t(double(shorter) * double(long_edge) / double(short_edge))};
  if (max_size) {
    HEARTH_CHECK_AS(
        ValueError, *max_size > shorter, "max_size = ", *max_size,
        " must be strictly greater than the requested size for the smaller edge size = ", shorter);
    if (size.width > *max_size)
      size = {int64_t(double(*max_size) * double(size.height) / double(size.width)), *max_size};
  }
  // Until here, size.height is the shorter edge and size.width the longer one.
  return is_tall ? ImageSize{size.width, size.height} : size;
}

Tensor interpolated(const Tensor& values, ImageSize size, InterpolationMode mode, bool antialias) {
  F::InterpolateFuncOptions options;
  options.size(std::vector<int64_t>{size.height, size.width});
  switch (mode) {
    case InterpolationMode::NEAREST: return F::interpolate(values, options.mode(kNearest));
    case InterpolationMode::NEAREST_EXACT:
      return F::interpolate(values, options.mode(kNearestExact).align_corners(false));
    case InterpolationMode::BILINEAR:
      return F::interpolate(values,
                            options.mode(kBilinear).align_corners(false).antialias(antialias));
    default:
      return F::interpolate(values,
                            options.mode(kBicubic).align_corners(false).antialias(antialias));
  }
}

/// Returns the inverse of this map: shear and rotate (in degrees) around `center`, scale,
/// translate.
Matrix inverse_affine(Point center, double angle, Point translate, double scale, Point shear) {
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double rotation = radians(angle), sx = radians(shear[0]), sy = radians(shear[1]);
  const double a = std::cos(rotation - sy) / std::cos(sy);
  const double b = -std::cos(rotation - sy) * std::tan(sx) / std::cos(sy) - std::sin(rotation);
  const double c = std::sin(rotation - sy) / std::cos(sy);
  const double d = -std::sin(rotation - sy) * std::tan(sx) / std::cos(sy) + std::cos(rotation);
  Matrix m{d / scale, -b / scale, 0, -c / scale, a / scale, 0};
  const double x = -center[0] - translate[0], y = -center[1] - translate[1];
  m[2] = m[0] * x + m[1] * y + center[0];
  m[5] = m[3] * x + m[4] * y + center[1];
  return m;
}

/// Returns the size of the smallest axis-aligned rectangle around the image rotated by `m`. The
/// inverse rotation gives the same size. In float32 and truncated, as torchvision does it, so that
/// the sizes agree.
ImageSize enclosing(const Matrix& m, ImageSize image) {
  const float half[2] = {float(image.width) / 2, float(image.height) / 2};
  const auto truncated = [](float value) { return std::trunc(value * 1e4F) * 1e-4F; };
  const auto length = [&](size_t i) {
    const float a = float(m[3 * i]) * half[0], b = float(m[3 * i + 1]) * half[1],
                shift = float(m[3 * i + 2]);
    const auto [low, high] =
        std::minmax({shift - a - b, shift - a + b, shift + a - b, shift + a + b});
    return int64_t(std::ceil(truncated(high + half[i])) - std::floor(truncated(low + half[i])));
  };
  return {length(1), length(0)};
}

/// Returns grid_sample's grid `[1, height, width, 2]` for a result of this size. The coefficients
/// are rounded to float32 as in torchvision, because rounding selects one of two nearest pixels.
Tensor grid_of(const Matrix& m, ImageSize image, ImageSize result, const TensorOptions& options) {
  const auto centered = [&](int64_t count) {
    const double first = 0.5 - double(count) / 2;
    return linspace(first, first + double(count - 1), count, options);
  };
  const Tensor x = centered(result.width), y = centered(result.height).unsqueeze(1);
  const bool is_double = options.dtype() == kDouble;
  const auto coordinate = [&](size_t i, int64_t length) {
    const double half = double(length) / 2;
    const auto factor = [&](double value) {
      return is_double ? value / half : double(float(value) / float(half));
    };
    return x.mul(factor(m[3 * i])).add(y.mul(factor(m[3 * i + 1]))).add(factor(m[3 * i + 2]));
  };
  return stack({coordinate(0, image.width), coordinate(1, image.height)}, -1).unsqueeze(0);
}

/// Returns an image of this size whose points have the values at the points of `img` to which
/// `matrix` maps them; points mapped to outside of `img` become `fill`.
Tensor mapped(const Tensor& img, const Matrix& matrix, ImageSize size, InterpolationMode mode,
              ArrayRef<double> fill) {
  return sampled(img, grid_of(matrix, get_image_size(img), size, float_options(img)), mode, fill);
}

/// Returns a centre in pixels as an offset from the image's centre.
Point offset_of(const std::optional<Point>& center, ImageSize image) {
  if (!center) return {0, 0};
  return {(*center)[0] - double(image.width) / 2, (*center)[1] - double(image.height) / 2};
}

/// Returns the indices of a dimension mirrored at its edges: … 1 0 0 1 2 …. Negative padding
/// removes pixels before the others are mirrored.
Tensor mirrored_indices(int64_t size, int64_t before, int64_t after, Device device) {
  const int64_t first = std::max<int64_t>(-before, 0), last = size - std::max<int64_t>(-after, 0);
  HEARTH_CHECK(first < last && before <= last - first && after <= last - first,
               "Padding size should be at most the size (", std::max<int64_t>(last - first, 0),
               ") in symmetric mode, but got ", before, " and ", after);
  std::vector<int64_t> indices;
  for (int64_t i = -before; i < size + after; ++i)
    indices.push_back(i < first ? 2 * first - 1 - i : i < last ? i : 2 * last - 1 - i);
  return tensor(indices, TensorOptions(kLong).device(device));
}

/// x / 2; halves are rounded to the even neighbour.
int64_t half_to_even(int64_t x) { return int64_t(std::nearbyint(double(x) / 2)); }

}  // namespace

Tensor resize(const Tensor& img, IntArrayRef size, InterpolationMode interpolation,
              std::optional<int64_t> max_size, bool antialias) {
  const ImageSize image = get_image_size(img);
  HEARTH_CHECK_AS(
      ValueError, size.size() == 1 || !max_size,
      "max_size should only be passed if size specifies the length of the smaller "
      "edge, i.e. size should be an int or a sequence of length 1 in torchscript mode.");
  const bool is_empty = image.height == 0 || image.width == 0;
  const ImageSize result_size = size.size() == 1 && !is_empty
                                    ? proportional(image, size[0], max_size)
                                    : height_and_width(size);
  HEARTH_CHECK_AS(
      ValueError, !is_empty && result_size.height > 0 && result_size.width > 0,
      "Input and output sizes should be greater than 0, but got input (H: ", image.height,
      ", W: ", image.width, ") output (H: ", result_size.height, ", W: ", result_size.width, ")");
  if (result_size.height == image.height && result_size.width == image.width) return img;
  const FloatImage source(img);
  Tensor result = interpolated(source.values, result_size, interpolation, antialias);
  // Cubic interpolation leaves the range of the pixels.
  if (interpolation == InterpolationMode::BICUBIC && img.scalar_type() == kByte)
    result = result.clamp(0, 255);
  return source.restore(result);
}

Tensor pad(const Tensor& img, IntArrayRef padding, double fill, PaddingMode padding_mode) {
  check_image(img);
  HEARTH_CHECK_AS(ValueError, padding.size() == 1 || padding.size() == 2 || padding.size() == 4,
                  "Padding must be an int or a 1, 2, or 4 element tuple, not a ", padding.size(),
                  " element tuple");
  const int64_t left = padding[0], top = padding.size() > 1 ? padding[1] : left,
                right = padding.size() == 4 ? padding[2] : left,
                bottom = padding.size() == 4 ? padding[3] : top;
  if (padding_mode == PaddingMode::CONSTANT)
    return constant_pad_nd(img, {left, right, top, bottom}, fill);
  if (padding_mode == PaddingMode::SYMMETRIC) {
    const ImageSize size = get_image_size(img);
    return img.index_select(-2, mirrored_indices(size.height, top, bottom, img.device()))
        .index_select(-1, mirrored_indices(size.width, left, right, img.device()));
  }
  const FloatImage image(img);
  return image.restore(hearth::pad(image.values, {left, right, top, bottom},
                                   padding_mode == PaddingMode::EDGE ? "replicate" : "reflect"));
}

Tensor crop(const Tensor& img, int64_t top, int64_t left, int64_t height, int64_t width) {
  const ImageSize size = get_image_size(img);
  constexpr int64_t kMaxEdge = std::numeric_limits<int32_t>::max();
  HEARTH_CHECK(height >= 0 && width >= 0 && height <= kMaxEdge && width <= kMaxEdge,
               "crop: height and width must be from 0 to ", kMaxEdge, ", got ", height, " and ",
               width);
  const bool is_outside =
      top >= size.height || left >= size.width || top <= -height || left <= -width;
  if (is_outside) {
    std::vector<int64_t> sizes = img.sizes().vec();
    sizes[sizes.size() - 2] = height;
    sizes.back() = width;
    return img.new_zeros(sizes);
  }
  const int64_t bottom = top + height, right = left + width;
  if (left >= 0 && top >= 0 && right <= size.width && bottom <= size.height)
    return img.narrow(-2, top, height).narrow(-1, left, width);
  return constant_pad_nd(img, {-left, right - size.width, -top, bottom - size.height}, 0);
}

Tensor center_crop(const Tensor& img, IntArrayRef output_size) {
  const auto [height, width] = height_and_width(output_size);
  const ImageSize size = get_image_size(img);
  if (width > size.width || height > size.height) {
    const int64_t extra_width = std::max<int64_t>(width - size.width, 0),
                  extra_height = std::max<int64_t>(height - size.height, 0);
    const Tensor padded =
        functional::pad(img, IntArrayRef({extra_width / 2, extra_height / 2, (extra_width + 1) / 2,
                                          (extra_height + 1) / 2}));
    return center_crop(padded, output_size);
  }
  return crop(img, half_to_even(size.height - height), half_to_even(size.width - width), height,
              width);
}

Tensor resized_crop(const Tensor& img, int64_t top, int64_t left, int64_t height, int64_t width,
                    IntArrayRef size, InterpolationMode interpolation, bool antialias) {
  return resize(crop(img, top, left, height, width), size, interpolation, {}, antialias);
}

std::vector<Tensor> five_crop(const Tensor& img, IntArrayRef size) {
  const auto [height, width] = height_and_width(size);
  const ImageSize image = get_image_size(img);
  HEARTH_CHECK_AS(ValueError, width <= image.width && height <= image.height,
                  "Requested crop size (", height, ", ", width, ") is bigger than input size (",
                  image.height, ", ", image.width, ")");
  const int64_t top = image.height - height, left = image.width - width;
  return {crop(img, 0, 0, height, width), crop(img, 0, left, height, width),
          crop(img, top, 0, height, width), crop(img, top, left, height, width),
          center_crop(img, size)};
}

std::vector<Tensor> ten_crop(const Tensor& img, IntArrayRef size, bool vertical_flip) {
  std::vector<Tensor> crops = five_crop(img, size);
  for (Tensor& flipped : five_crop(vertical_flip ? vflip(img) : hflip(img), size))
    crops.push_back(std::move(flipped));
  return crops;
}

Tensor hflip(const Tensor& img) {
  check_image(img);
  return img.flip({-1});
}
Tensor vflip(const Tensor& img) {
  check_image(img);
  return img.flip({-2});
}

Tensor rotate(const Tensor& img, double angle, InterpolationMode interpolation, bool expand,
              std::optional<std::array<double, 2>> center, ArrayRef<double> fill) {
  const ImageSize size = get_image_size(img);
  // inverse_affine() rotates clockwise, rotate() counterclockwise.
  const Matrix m = inverse_affine(offset_of(center, size), -angle, {0, 0}, 1, {0, 0});
  return mapped(img, m, expand ? enclosing(m, size) : size, interpolation, fill);
}

Tensor affine(const Tensor& img, double angle, std::array<int64_t, 2> translate, double scale,
              std::array<double, 2> shear, InterpolationMode interpolation, ArrayRef<double> fill,
              std::optional<std::array<double, 2>> center) {
  HEARTH_CHECK_AS(ValueError, scale > 0, "Argument scale should be positive");
  const ImageSize size = get_image_size(img);
  const Matrix m = inverse_affine(offset_of(center, size), angle,
                                  {double(translate[0]), double(translate[1])}, scale, shear);
  return mapped(img, m, size, interpolation, fill);
}

Tensor erase(const Tensor& img, int64_t i, int64_t j, int64_t h, int64_t w, const Tensor& v,
             bool inplace) {
  check_image(img);
  const Tensor result = inplace ? img : img.clone();
  result.slice(-2, i, i + h).slice(-1, j, j + w).copy_(v);
  return result;
}

}  // namespace hearth::vision::transforms::functional
