#include <cmath>
#include <limits>

#include "hearth/nn/conv.h"
#include "hearth/operators.h"
#include "vision/values.h"

namespace hearth::vision::transforms::functional {

namespace {

/// ratio * a + (1 - ratio) * b, in the range of a's dtype.
Tensor blend(const Tensor& a, const Tensor& b, double ratio) {
  return a.mul(ratio)
      .add(b.mul(1 - ratio))
      .clamp(0, largest_value(a.scalar_type()))
      .to(a.scalar_type());
}

void check_factor(double factor, const char* name) {
  HEARTH_CHECK_AS(ValueError, factor >= 0, name, " (", factor, ") is not non-negative.");
}

/// Returns the hue, saturation and value of a floating RGB image, stacked like its channels.
Tensor rgb_to_hsv(const Tensor& img) {
  const auto channels = img.unbind(-3);
  const Tensor &r = channels[0], &g = channels[1], &b = channels[2];
  const Tensor largest = img.amax(-3), range = largest - img.amin(-3), is_gray = range.eq(0);
  const Tensor saturation = range / largest.masked_fill(is_gray, 1);
  const Tensor divisor = range.masked_fill(is_gray, 1);
  const Tensor rc = (largest - r) / divisor, gc = (largest - g) / divisor,
               bc = (largest - b) / divisor;
  const Tensor is_r = largest.eq(r), is_g = largest.eq(g);
  const Tensor hue_of_others = where(is_g, rc - bc + 2, gc - rc + 4);
  const Tensor hue = where(is_r, bc - gc, hue_of_others).div(6).add(1).fmod(1);
  return stack({hue, saturation, largest}, -3);
}

Tensor hsv_to_rgb(const Tensor& img) {
  const auto channels = img.unbind(-3);
  const Tensor &h = channels[0], &s = channels[1], &v = channels[2];
  const Tensor sector = h.mul(6).floor(), f = h.mul(6) - sector;
  const Tensor p = v.mul(1 - s).clamp(0, 1), q = v.mul(1 - s * f).clamp(0, 1),
               t = v.mul(1 - s * (1 - f)).clamp(0, 1);
  const Tensor index = sector.to(kLong).remainder(6).unsqueeze(0);
  const auto select_by_sector = [&](std::vector<Tensor> by_sector) {
    return stack(by_sector, 0).gather(0, index).squeeze(0);
  };
  return stack({select_by_sector({v, q, p, p, t, v}), select_by_sector({t, v, v, q, p, p}),
                select_by_sector({p, p, t, v, v, q})},
               -3);
}

/// Returns the image after a 3 x 3 blur; border pixels do not change.
Tensor blurred(const Tensor& img) {
  const FloatImage image(img);
  const int64_t channels = image.values.size(1);
  Tensor kernel = ones({3, 3}, image.values.options());
  kernel[1][1].fill_(5);
  kernel = (kernel / kernel.sum()).expand({channels, 1, 3, 3});
  const Tensor inner = conv2d(image.values, kernel, {}, 1, IntArrayRef(0), 1, channels);
  Tensor result = img.clone();
  result.slice(-2, 1, -1).slice(-1, 1, -1).copy_(image.restore(inner));
  return result;
}

/// Returns one channel with an equalized histogram; `values` are `[height * width]` bytes.
Tensor equalized_channel(const Tensor& values) {
  const Tensor histogram = bincount(values.to(kLong), {}, 256);
  const Tensor nonzero_counts = histogram.masked_select(histogram.ne(0));
  const int64_t step = nonzero_counts.slice(0, 0, -1).sum().item<int64_t>() / 255;
  if (step == 0) return values;
  const Tensor sums = histogram.cumsum(0).add(step / 2).div(step, "floor");
  const Tensor table =
      cat({zeros({1}, sums.options()), sums.slice(0, 0, -1)}).clamp(0, 255).to(kByte);
  return table.index_select(0, values.to(kLong));
}

Tensor gaussian_kernel(int64_t size, double sigma, const TensorOptions& options) {
  const double half = double(size - 1) * 0.5;
  const Tensor density = linspace(-half, half, size, options).div(sigma).square().mul(-0.5).exp();
  return density / density.sum();
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& img, int64_t num_output_channels) {
  HEARTH_CHECK_AS(TypeError, img.defined() && img.dim() >= 3,
                  "Input image tensor should have at least 3 dimensions, but found ",
                  img.defined() ? img.dim() : 0);
  check_channels(img, {1, 3});
  HEARTH_CHECK_AS(ValueError, num_output_channels == 1 || num_output_channels == 3,
                  "num_output_channels should be either 1 or 3");
  Tensor gray = img;
  if (img.size(-3) == 3) {
    const auto channels = img.unbind(-3);
    // torchvision's weights.
    gray = channels[0].mul(0.2989).add(channels[1].mul(0.587)).add(channels[2].mul(0.114));
    gray = gray.to(img.scalar_type()).unsqueeze(-3);
  }
  if (num_output_channels == 1) return gray;
  std::vector<int64_t> sizes = gray.sizes().vec();
  sizes[sizes.size() - 3] = 3;
  return gray.expand(sizes);
}

Tensor adjust_brightness(const Tensor& img, double brightness_factor) {
  check_factor(brightness_factor, "brightness_factor");
  check_channels(img, {1, 3});
  return blend(img, zeros_like(img), brightness_factor);
}

Tensor adjust_contrast(const Tensor& img, double contrast_factor) {
  check_factor(contrast_factor, "contrast_factor");
  check_channels(img, {1, 3});
  if (img.dim() == 2) return adjust_contrast(img.unsqueeze(0), contrast_factor).squeeze(0);
  const Tensor gray = rgb_to_grayscale(img);
  const Tensor mean = gray.to(is_floating_point(img.scalar_type()) ? img.scalar_type() : kFloat)
                          .mean({-3, -2, -1}, true);
  return blend(img, mean, contrast_factor);
}

Tensor adjust_saturation(const Tensor& img, double saturation_factor) {
  check_factor(saturation_factor, "saturation_factor");
  check_channels(img, {1, 3});
  if (channels_of(img) == 1) return img;
  return blend(img, rgb_to_grayscale(img), saturation_factor);
}

Tensor adjust_hue(const Tensor& img, double hue_factor) {
  HEARTH_CHECK_AS(ValueError, hue_factor >= -0.5 && hue_factor <= 0.5, "hue_factor (", hue_factor,
                  ") is not in [-0.5, 0.5].");
  check_channels(img, {1, 3});
  if (channels_of(img) == 1) return img;
  const Tensor hsv = rgb_to_hsv(convert_image_dtype(img, kFloat));
  const auto channels = hsv.unbind(-3);
  const Tensor shifted_hue = channels[0].add(hue_factor).remainder(1);
  return convert_image_dtype(hsv_to_rgb(stack({shifted_hue, channels[1], channels[2]}, -3)),
                             img.scalar_type());
}

Tensor adjust_gamma(const Tensor& img, double gamma, double gain) {
  check_channels(img, {1, 3});
  HEARTH_CHECK_AS(ValueError, gamma >= 0, "Gamma should be a non-negative real number");
  const bool is_floating = img.is_floating_point();
  const Tensor result =
      (is_floating ? img : convert_image_dtype(img, kFloat)).pow(gamma).mul(gain).clamp(0, 1);
  return convert_image_dtype(result, img.scalar_type());
}

Tensor adjust_sharpness(const Tensor& img, double sharpness_factor) {
  check_factor(sharpness_factor, "sharpness_factor");
  check_channels(img, {1, 3});
  if (img.size(-1) <= 2 || img.size(-2) <= 2) return img;
  return blend(img, blurred(img), sharpness_factor);
}

Tensor invert(const Tensor& img) {
  check_channels(img, {1, 3});
  const double largest = largest_value(img.scalar_type());
  if (img.is_floating_point()) return img.neg().add(largest);
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();  // `largest` is rounded up
  return img.neg().add(img.scalar_type() == kLong ? kLargest : int64_t(largest));
}

Tensor posterize(const Tensor& img, int64_t bits) {
  check_channels(img, {1, 3});
  HEARTH_CHECK_AS(TypeError, img.scalar_type() == kByte,
                  "Only torch.uint8 image tensors are supported, but found ",
                  name_of(img.scalar_type()));
  HEARTH_CHECK(bits >= 0 && bits <= 8, "posterize: bits must be 0 to 8, got ", bits);
  return img.bitwise_and(0xFF & ~((1 << (8 - bits)) - 1));  // keeps the highest bits
}

Tensor solarize(const Tensor& img, double threshold) {
  check_channels(img, {1, 3});
  HEARTH_CHECK_AS(TypeError, threshold <= largest_value(img.scalar_type()),
                  "Threshold should be less than bound of img.");
  return where(img.ge(threshold), invert(img), img);
}

Tensor autocontrast(const Tensor& img) {
  check_channels(img, {1, 3});
  const double largest = largest_value(img.scalar_type());
  const ScalarType dtype = img.is_floating_point() ? img.scalar_type() : kFloat;
  const Tensor low = img.amin({-2, -1}, true).to(dtype), high = img.amax({-2, -1}, true).to(dtype);
  const Tensor scale = (high - low).reciprocal().mul(largest),
               is_flat = scale.isfinite().logical_not();
  return img.sub(low.masked_fill(is_flat, 0))
      .mul(scale.masked_fill(is_flat, 1))
      .clamp(0, largest)
      .to(img.scalar_type());
}

Tensor equalize(const Tensor& img) {
  check_channels(img, {1, 3});
  HEARTH_CHECK_AS(TypeError, img.scalar_type() == kByte,
                  "Only torch.uint8 image tensors are supported, but found ",
                  name_of(img.scalar_type()));
  if (img.numel() == 0) return img;
  const Tensor channels = img.reshape({-1, img.size(-2) * img.size(-1)});
  std::vector<Tensor> results;
  for (const Tensor& channel : channels.unbind(0)) results.push_back(equalized_channel(channel));
  return stack(results).view(img.sizes());
}

Tensor gaussian_blur(const Tensor& img, IntArrayRef kernel_size, ArrayRef<double> sigma) {
  HEARTH_CHECK_AS(ValueError, kernel_size.size() == 1 || kernel_size.size() == 2,
                  "If kernel_size is a sequence its length should be 2. Got ", kernel_size.size());
  HEARTH_CHECK_AS(ValueError, sigma.size() <= 2,
                  "If sigma is a sequence, its length should be 2. Got ", sigma.size());
  const auto kernel = [&](size_t i, const TensorOptions& options) {
    const int64_t size = kernel_size[std::min(i, kernel_size.size() - 1)];
    HEARTH_CHECK_AS(ValueError, size > 0 && size % 2 == 1,
                    "kernel_size should have odd and positive integers. Got ", kernel_size);
    // The default is torchvision's.
    const double deviation = sigma.empty() ? 0.3 * (double(size - 1) * 0.5 - 1) + 0.8
                                           : sigma[std::min(i, sigma.size() - 1)];
    HEARTH_CHECK_AS(ValueError, deviation > 0, "sigma should have positive values. Got ",
                    deviation);
    return gaussian_kernel(size, deviation, options);
  };
  const FloatImage image(img);
  const TensorOptions options = image.values.options();
  const Tensor x = kernel(0, options), y = kernel(1, options);
  const int64_t channels = image.values.size(1), pad_x = x.size(0) / 2, pad_y = y.size(0) / 2;
  const Tensor padded = hearth::pad(image.values, {pad_x, pad_x, pad_y, pad_y}, "reflect");
  const Tensor weight = y.unsqueeze(1).mul(x).expand({channels, 1, y.size(0), x.size(0)});
  return image.restore(conv2d(padded, weight, {}, 1, IntArrayRef(0), 1, channels));
}

}  // namespace hearth::vision::transforms::functional
