#include "fit_image.h"

#include <algorithm>
#include <cmath>

#include "hearth/vision/functional.h"

namespace hearth::app {

Tensor fit_image(const Tensor& image, int64_t height, int64_t width) {
  namespace images = vision::transforms::functional;
  const Tensor pixels = images::convert_image_dtype(image);
  const auto [rows, columns] = images::get_image_size(pixels);
  if (rows == height && columns == width) return pixels;
  const double scale = std::max(static_cast<double>(height) / static_cast<double>(rows),
                                static_cast<double>(width) / static_cast<double>(columns));
  const auto scaled = [scale](int64_t length, int64_t least) {
    return std::max<int64_t>(least, std::llround(scale * static_cast<double>(length)));
  };
  const Tensor resized = images::resize(pixels, {scaled(rows, height), scaled(columns, width)});
  return images::center_crop(resized, {height, width});
}

}  // namespace hearth::app
