#include "vision/sampling.h"

#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "vision/values.h"

namespace hearth::vision::transforms {

namespace {

Tensor grid_sampled(const Tensor& values, const Tensor& grid, bool is_nearest) {
  nn::functional::GridSampleFuncOptions options;
  options.padding_mode(kZeros).align_corners(false);
  if (is_nearest)
    options.mode(kNearest);
  else
    options.mode(kBilinear);
  return nn::functional::grid_sample(values, grid.expand({values.size(0), -1, -1, -1}), options);
}

}  // namespace

TensorOptions float_options(const Tensor& img) {
  return img.options().dtype(img.scalar_type() == kDouble ? kDouble : kFloat);
}

Tensor sampled(const Tensor& img, const Tensor& grid, InterpolationMode mode,
               ArrayRef<double> fill) {
  const bool is_nearest = mode == InterpolationMode::NEAREST;
  HEARTH_CHECK_AS(ValueError, is_nearest || mode == InterpolationMode::BILINEAR,
                  "Interpolation mode '",
                  mode == InterpolationMode::BICUBIC ? "bicubic" : "nearest-exact",
                  "' is unsupported with Tensor input (supported are NEAREST and BILINEAR)");
  const FloatImage image(img);
  const int64_t channels = image.values.size(1);
  HEARTH_CHECK_AS(ValueError, fill.size() <= 1 || int64_t(fill.size()) == channels,
                  "The number of elements in 'fill' cannot broadcast to match the number of "
                  "channels of the image (",
                  fill.size(), " != ", channels, ")");
  if (fill.empty()) return image.restore(grid_sampled(image.values, grid, is_nearest));
  const Tensor inside = ones_like(image.values.narrow(1, 0, 1));
  const Tensor result_and_mask = grid_sampled(cat({image.values, inside}, 1), grid, is_nearest);
  const Tensor result = result_and_mask.narrow(1, 0, channels),
               mask = result_and_mask.narrow(1, channels, 1);
  const Tensor values = tensor(fill, image.values.options()).view({1, -1, 1, 1});
  return image.restore(is_nearest ? where(mask.lt(0.5), values, result)
                                  : result * mask + (1 - mask) * values);
}

}  // namespace hearth::vision::transforms
