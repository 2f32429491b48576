#include "vision/augmentation.h"

#include <cmath>
#include <numbers>

#include "hearth/operators.h"
#include "vision/random.h"

namespace hearth::vision::transforms {

namespace F = functional;

Magnitudes usual_magnitudes(ImageSize size) {
  constexpr double kShare = 150.0 / 331;  // torchvision's
  return {0.3, kShare * double(size.width), kShare * double(size.height), 30, 0.9, 8, 4};
}

double Magnitudes::of(Augmentation kind, int64_t bin, int64_t num_bins) const {
  const auto interpolate = [&](double begin, double end) {
    return linspace(begin, end, num_bins)[bin].item<double>();
  };
  using enum Augmentation;
  switch (kind) {
    case kShearX:
    case kShearY: return interpolate(0, shear);
    case kTranslateX: return interpolate(0, translate_x);
    case kTranslateY: return interpolate(0, translate_y);
    case kRotate: return interpolate(0, rotate);
    case kBrightness:
    case kColor:
    case kContrast:
    case kSharpness: return interpolate(0, factor);
    case kPosterize:
      return posterize_bits -
             std::nearbyint(float(bin) / float(double(num_bins - 1) / posterize_steps));
    case kSolarize: return interpolate(255, 0);
    default: return 0;
  }
}

double with_random_sign(Augmentation kind, double m) {
  return has_sign(kind) && random_below(0, 2) == 1 ? -m : m;
}

Tensor augmented(const Tensor& img, Augmentation kind, double m, InterpolationMode mode,
                 ArrayRef<double> fill) {
  const double degrees = std::atan(m) * 180 / std::numbers::pi;
  const std::optional<std::array<double, 2>> corner{{0, 0}};
  using enum Augmentation;
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
    case kInvert: return F::invert(img);
    default: return img;
  }
}

}  // namespace hearth::vision::transforms
