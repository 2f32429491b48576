#include <cmath>
#include <numbers>

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

namespace {

/// One of the operations that RandAugment chooses from.
struct Augmentation {
  enum Kind : int8_t {
    kIdentity,
    kShearX,
    kShearY,
    kTranslateX,
    kTranslateY,
    kRotate,
    kBrightness,
    kColor,
    kContrast,
    kSharpness,
    kPosterize,
    kSolarize,
    kAutoContrast,
    kEqualize,
    kCount
  };
  Kind kind;
  /// The magnitude of bin `bin` of `num_bins`, in torchvision's ranges.
  double magnitude(int64_t bin, int64_t num_bins, ImageSize size) const {
    const auto interpolate = [&](double begin, double end) {
      return linspace(begin, end, num_bins)[bin].item<double>();
    };
    switch (kind) {
      case kShearX:
      case kShearY: return interpolate(0, 0.3);
      case kTranslateX: return interpolate(0, 150.0 / 331 * double(size.width));
      case kTranslateY: return interpolate(0, 150.0 / 331 * double(size.height));
      case kRotate: return interpolate(0, 30);
      case kBrightness:
      case kColor:
      case kContrast:
      case kSharpness: return interpolate(0, 0.9);
      case kPosterize: return 8 - std::nearbyint(float(bin) / float(double(num_bins - 1) / 4));
      case kSolarize: return interpolate(255, 0);
      default: return 0;
    }
  }
  bool has_sign() const { return kShearX <= kind && kind <= kSharpness; }

  /// Applies the operation with magnitude m.
  Tensor apply(const Tensor& img, double m, InterpolationMode mode, ArrayRef<double> fill) const {
    const double degrees = std::atan(m) * 180 / std::numbers::pi;
    const std::optional<std::array<double, 2>> corner{{0, 0}};
    switch (kind) {
      case kShearX: return F::affine(img, 0, {0, 0}, 1, {degrees, 0}, mode, fill, corner);
      case kShearY: return F::affine(img, 0, {0, 0}, 1, {0, degrees}, mode, fill, corner);
      case kTranslateX: return F::affine(img, 0, {int64_t(m), 0}, 1, {0, 0}, mode, fill);
      case kTranslateY: return F::affine(img, 0, {0, int64_t(m)}, 1, {0, 0}, mode, fill);
      case kRotate: return F::rotate(img, m, mode, false, {}, fill);
      case kBrightness: return F::adjust_brightness(img, 1 + m);
      case kColor: return F::adjust_saturation(img, 1 + m);
      case kContrast: return F::adjust_contrast(img, 1 + m);
      case kSharpness: return F::adjust_sharpness(img, 1 + m);
      case kPosterize: return F::posterize(img, int64_t(m));
      case kSolarize: return F::solarize(img, m);
      case kAutoContrast: return F::autocontrast(img);
      case kEqualize: return F::equalize(img);
      default: return img;
    }
  }
};

}  // namespace

RandAugment::RandAugment(int64_t num_ops, int64_t magnitude, int64_t num_magnitude_bins,
                         InterpolationMode interpolation, std::vector<double> fill)
    : num_ops_(num_ops),
      magnitude_(magnitude),
      num_magnitude_bins_(num_magnitude_bins),
      interpolation_(interpolation),
      fill_(std::move(fill)) {
  HEARTH_CHECK_AS(
      ValueError,
      num_ops >= 0 && num_magnitude_bins > 1 && magnitude >= 0 && magnitude < num_magnitude_bins,
      "RandAugment: num_ops must be at least 0, num_magnitude_bins at least 2, and magnitude from "
      "0 to num_magnitude_bins - 1, but got ",
      num_ops, ", ", num_magnitude_bins, " and ", magnitude);
}

Tensor RandAugment::operator()(Tensor img) {
  const ImageSize size = F::get_image_size(img);
  for (int64_t i = 0; i < num_ops_; ++i) {
    const Augmentation chosen{Augmentation::Kind(random_below(0, Augmentation::kCount))};
    double magnitude = chosen.magnitude(magnitude_, num_magnitude_bins_, size);
    if (chosen.has_sign() && random_below(0, 2) == 1) magnitude = -magnitude;
    img = chosen.apply(img, magnitude, interpolation_, fill_);
  }
  return img;
}

}  // namespace hearth::vision::transforms
