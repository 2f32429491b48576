#include <limits>

#include "hearth/operators.h"
#include "vision/random.h"
#include "vision/values.h"

namespace hearth::vision::transforms {

namespace F = functional;

namespace {

Range around_one(double spread, const char* name) {
  HEARTH_CHECK_AS(ValueError, spread >= 0, "If ", name,
                  " is a single number, it must be non negative.");
  return {std::max(0.0, 1 - spread), 1 + spread};
}

void check_range(Range range, double low, double high, const char* name) {
  HEARTH_CHECK_AS(ValueError, low <= range[0] && range[0] <= range[1] && range[1] <= high, name,
                  " values should be between (", low, ", ", high, "), but got [", range[0], ", ",
                  range[1], "].");
}

}  // namespace

ColorJitter::ColorJitter(double brightness, double contrast, double saturation, double hue)
    : ColorJitter(around_one(brightness, "brightness"), around_one(contrast, "contrast"),
                  around_one(saturation, "saturation"), Range{-hue, hue}) {}

ColorJitter::ColorJitter(Range brightness, Range contrast, Range saturation, Range hue)
    : brightness_(brightness), contrast_(contrast), saturation_(saturation), hue_(hue) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  check_range(brightness, 0, kInf, "brightness");
  check_range(contrast, 0, kInf, "contrast");
  check_range(saturation, 0, kInf, "saturation");
  check_range(hue, -0.5, 0.5, "hue");
}

Tensor ColorJitter::operator()(Tensor img) {
  struct Change {
    Range range;
    double neutral;  // leaves images unchanged
    Tensor (*apply)(const Tensor&, double);
    double factor = 0;
    bool has_effect() const { return range[0] != neutral || range[1] != neutral; }
  };
  Change changes[] = {{brightness_, 1, F::adjust_brightness},
                      {contrast_, 1, F::adjust_contrast},
                      {saturation_, 1, F::adjust_saturation},
                      {hue_, 0, F::adjust_hue}};
  const Tensor order = randperm(4);
  for (Change& change : changes)
    if (change.has_effect()) change.factor = random_uniform(change.range);
  for (int64_t i = 0; i < 4; ++i) {
    const Change& change = changes[order.data_ptr<int64_t>()[i]];
    if (change.has_effect()) img = change.apply(img, change.factor);
  }
  return img;
}

Tensor Grayscale::operator()(Tensor img) { return F::rgb_to_grayscale(img, num_output_channels_); }
Tensor RandomGrayscale::change(Tensor img) { return F::rgb_to_grayscale(img, img.size(-3)); }
Tensor RandomInvert::change(Tensor img) { return F::invert(img); }
Tensor RandomPosterize::change(Tensor img) { return F::posterize(img, bits_); }
Tensor RandomSolarize::change(Tensor img) { return F::solarize(img, threshold_); }
Tensor RandomAdjustSharpness::change(Tensor img) {
  return F::adjust_sharpness(img, sharpness_factor_);
}
Tensor RandomAutocontrast::change(Tensor img) { return F::autocontrast(img); }
Tensor RandomEqualize::change(Tensor img) { return F::equalize(img); }

GaussianBlur::GaussianBlur(std::vector<int64_t> kernel_size, Range sigma)
    : kernel_size_(std::move(kernel_size)), sigma_(sigma) {
  for (const int64_t size : kernel_size_)
    HEARTH_CHECK_AS(ValueError, size > 0 && size % 2 == 1,
                    "Kernel size value should be an odd and positive number.");
  HEARTH_CHECK_AS(ValueError, 0 < sigma[0] && sigma[0] <= sigma[1],
                  "sigma values should be positive and of the form (min, max).");
}
Tensor GaussianBlur::operator()(Tensor img) {
  return F::gaussian_blur(img, kernel_size_, random_uniform(sigma_));
}

}  // namespace hearth::vision::transforms
