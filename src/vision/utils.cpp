#include "hearth/vision/utils.h"

#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/vision/image.h"
#include "vision/codecs.h"

namespace hearth::vision::utils {

namespace {

/// Returns the images as a batch `[N, C, H, W]`; a single channel is repeated three times.
Tensor as_batch(Tensor images) {
  HEARTH_CHECK_AS(TypeError, images.defined(), "tensor or list of tensors expected, got nothing");
  HEARTH_CHECK(images.dim() >= 2 && images.dim() <= 4,
               "make_grid: expected images of 2 to 4 dimensions, but got sizes ", images.sizes());
  if (images.dim() == 2) images = images.unsqueeze(0);
  if (images.dim() == 3 && images.size(0) == 1) images = cat({images, images, images}, 0);
  if (images.dim() == 3) images = images.unsqueeze(0);
  if (images.size(1) == 1) images = cat({images, images, images}, 1);
  return images;
}

void scale_in_place(Tensor image, const std::optional<ValueRange>& range) {
  if (image.numel() == 0) return;
  const double low = range ? (*range)[0] : image.min().item<double>(),
               high = range ? (*range)[1] : image.max().item<double>();
  image.clamp_(low, high).sub_(low).div_(std::max(high - low, 1e-5));
}

Tensor normalized(const Tensor& images, const GridOptions& options) {
  const std::optional<ValueRange>& range = options.value_range();
  HEARTH_CHECK(!range || (*range)[0] <= (*range)[1],
               "make_grid: value_range must be the least and the greatest value");
  const Tensor copy = images.clone();
  if (!options.scale_each()) scale_in_place(copy, range);
  for (int64_t i = 0; options.scale_each() && i < copy.size(0); ++i) scale_in_place(copy[i], range);
  return copy;
}

}  // namespace

Tensor make_grid(const Tensor& tensor, const GridOptions& options) {
  const NoGradGuard no_grad;
  HEARTH_CHECK(options.nrow() > 0 && options.padding() >= 0,
               "make_grid: nrow must be positive and padding not negative");
  Tensor images = as_batch(tensor);
  if (options.normalize()) images = normalized(images, options);
  const int64_t count = images.size(0);
  if (count == 1) return images.squeeze(0);
  HEARTH_CHECK(count > 0, "float division by zero: make_grid got no images");
  const int64_t padding = options.padding(), columns = std::min(options.nrow(), count),
                rows = (count + columns - 1) / columns;
  const int64_t height = images.size(2) + padding, width = images.size(3) + padding;
  const Tensor grid = full({images.size(1), height * rows + padding, width * columns + padding},
                           options.pad_value(), images.options());
  for (int64_t i = 0; i < count; ++i)
    grid.narrow(1, i / columns * height + padding, height - padding)
        .narrow(2, i % columns * width + padding, width - padding)
        .copy_(images[i]);
  return grid;
}

Tensor make_grid(const std::vector<Tensor>& tensors, const GridOptions& options) {
  return make_grid(stack(tensors), options);
}

void save_image(const Tensor& tensor, const std::string& fp, const GridOptions& options) {
  const Tensor grid = make_grid(tensor, options);
  // In place, so that integers, which cannot be from 0 to 1, are refused as in PyTorch.
  const Tensor bytes = grid.mul(255).add_(0.5).clamp(0, 255).to(kCPU, kByte);
  if (is_png_name(fp)) return write_png(bytes, fp);
  HEARTH_CHECK_AS(ValueError, is_jpeg_name(fp), "unknown file extension: '", fp,
                  "' (known are .png, .jpg, .jpeg)");
  write_jpeg(bytes, fp);
}

void save_image(const std::vector<Tensor>& tensors, const std::string& fp,
                const GridOptions& options) {
  save_image(stack(tensors), fp, options);
}

}  // namespace hearth::vision::utils
