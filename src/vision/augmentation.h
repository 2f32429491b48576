#pragma once

#include "hearth/vision/functional.h"

namespace hearth::vision::transforms {

/// The operations that the policies of augmentation choose from.
enum class Augmentation : int8_t {
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
  kInvert
};
inline constexpr int64_t kAugmentations =
    int64_t(Augmentation::kInvert);  // AutoAugment alone inverts

/// Whether the operation may have a negative magnitude.
inline bool has_sign(Augmentation kind) {
  return Augmentation::kShearX <= kind && kind <= Augmentation::kSharpness;
}
inline bool has_magnitude(Augmentation kind) {
  return Augmentation::kShearX <= kind && kind <= Augmentation::kSolarize;
}

/// The greatest magnitudes; posterizing keeps posterize_bits bits minus up to posterize_steps.
struct Magnitudes {
  double shear, translate_x, translate_y, rotate, factor;
  int posterize_bits, posterize_steps;

  /// The magnitude of bin `bin` of `num_bins`.
  double of(Augmentation kind, int64_t bin, int64_t num_bins) const;
};
/// RandAugment's and AutoAugment's magnitudes for images of this size.
Magnitudes usual_magnitudes(ImageSize size);

/// Negates the magnitude m with a probability of 1/2, if the operation allows it.
double with_random_sign(Augmentation kind, double m);
/// Applies the operation with magnitude m.
Tensor augmented(const Tensor& img, Augmentation kind, double m, InterpolationMode mode,
                 ArrayRef<double> fill);

}  // namespace hearth::vision::transforms
