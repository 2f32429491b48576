#include "hearth/vision/auto_augment.h"

#include <iterator>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "vision/augmentation_policies.h"
#include "vision/random.h"

namespace hearth::vision::transforms {

namespace F = functional;

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
  const Magnitudes magnitudes = usual_magnitudes(F::get_image_size(img));
  for (int64_t i = 0; i < num_ops_; ++i) {
    const auto kind = Augmentation(random_below(0, kAugmentations));
    const double m = magnitudes.of(kind, magnitude_, num_magnitude_bins_);
    img = augmented(img, kind, with_random_sign(kind, m), interpolation_, fill_);
  }
  return img;
}

Tensor AutoAugment::operator()(Tensor img) {
  constexpr int64_t kBins = 10;
  const Policy& policy = policy_ == AutoAugmentPolicy::IMAGENET  ? policies::kImagenet
                         : policy_ == AutoAugmentPolicy::CIFAR10 ? policies::kCifar10
                                                                 : policies::kSvhn;
  const Magnitudes magnitudes = usual_magnitudes(F::get_image_size(img));
  const auto& steps = policy[random_below(0, int64_t(std::size(policy)))];
  const Tensor probabilities = rand({2}), signs = randint(2, {2});
  for (size_t i = 0; i < std::size(steps); ++i) {
    const Augmentation kind = steps[i].augmentation;
    if (probabilities.data_ptr<float>()[i] > float(steps[i].tenths / 10.0)) continue;
    const double m = magnitudes.of(kind, steps[i].bin, kBins);
    const bool negates = has_sign(kind) && signs.data_ptr<int64_t>()[i] == 0;
    img = augmented(img, kind, negates ? -m : m, interpolation_, fill_);
  }
  return img;
}

TrivialAugmentWide::TrivialAugmentWide(int64_t num_magnitude_bins, InterpolationMode interpolation,
                                       std::vector<double> fill)
    : num_magnitude_bins_(num_magnitude_bins),
      interpolation_(interpolation),
      fill_(std::move(fill)) {
  HEARTH_CHECK_AS(ValueError, num_magnitude_bins > 1,
                  "TrivialAugmentWide: num_magnitude_bins must be at least 2, but got ",
                  num_magnitude_bins);
}

Tensor TrivialAugmentWide::operator()(Tensor img) {
  constexpr Magnitudes kMagnitudes{0.99, 32, 32, 135, 0.99, 8, 6};
  const auto kind = Augmentation(random_below(0, kAugmentations));
  const double m = has_magnitude(kind) ? kMagnitudes.of(kind, random_below(0, num_magnitude_bins_),
                                                        num_magnitude_bins_)
                                       : 0;
  return augmented(img, kind, with_random_sign(kind, m), interpolation_, fill_);
}

namespace {

/// Weights `[rows, columns]`, each row from the symmetric Dirichlet distribution.
Tensor random_weights(double alpha, int64_t rows, int64_t columns) {
  return _sample_dirichlet(full({rows, columns}, alpha, kFloat));
}

/// AugMix's operations: those that change colours or sharpness come last.
constexpr Augmentation kMixed[] = {
    Augmentation::kShearX,     Augmentation::kShearY,       Augmentation::kTranslateX,
    Augmentation::kTranslateY, Augmentation::kRotate,       Augmentation::kPosterize,
    Augmentation::kSolarize,   Augmentation::kAutoContrast, Augmentation::kEqualize,
    Augmentation::kBrightness, Augmentation::kColor,        Augmentation::kContrast,
    Augmentation::kSharpness};
constexpr int64_t kMixedAlways = std::ssize(kMixed) - 4;  // without all_ops

/// Applies a chain of AugMix to a batch.
Tensor chained(Tensor img, const AugMixOptions& options) {
  constexpr int64_t kBins = 10;
  const auto [height, width] = F::get_image_size(img);
  const Magnitudes magnitudes{0.3, double(width) / 3, double(height) / 3, 30, 0.9, 4, 4};
  const int64_t depth = options.chain_depth() > 0 ? options.chain_depth() : random_below(1, 4);
  for (int64_t i = 0; i < depth; ++i) {
    const Augmentation kind =
        kMixed[random_below(0, options.all_ops() ? std::ssize(kMixed) : kMixedAlways)];
    const double m =
        has_magnitude(kind) ? magnitudes.of(kind, random_below(0, options.severity()), kBins) : 0;
    img = augmented(img, kind, with_random_sign(kind, m), options.interpolation(), options.fill());
  }
  return img;
}

}  // namespace

AugMix::AugMix(AugMixOptions options) : options_(std::move(options)) {
  HEARTH_CHECK_AS(ValueError, options_.severity() >= 1 && options_.severity() <= 10,
                  "The severity must be between [1, 10]. Got ", options_.severity(), " instead.");
  HEARTH_CHECK_AS(ValueError, options_.mixture_width() >= 1 && options_.alpha() > 0,
                  "AugMix: mixture_width and alpha must be positive, but got ",
                  options_.mixture_width(), " and ", options_.alpha());
}

Tensor AugMix::operator()(Tensor img) {
  Tensor batch = img;
  while (batch.dim() < 4) batch = batch.unsqueeze(0);
  std::vector<int64_t> per_image(size_t(batch.dim()), 1);
  per_image[0] = batch.size(0);
  const auto column = [&](const Tensor& weights, int64_t i) {
    return weights.select(1, i).reshape(per_image).to(img.device());
  };
  const Tensor shares = random_weights(options_.alpha(), per_image[0], 2);
  const Tensor weights = random_weights(options_.alpha(), per_image[0], options_.mixture_width()) *
                         shares.select(1, 1).unsqueeze(1);
  Tensor mixture = column(shares, 0) * batch;
  for (int64_t i = 0; i < options_.mixture_width(); ++i)
    mixture = mixture + column(weights, i) * chained(batch, options_);
  return mixture.view(img.sizes()).to(img.scalar_type());
}

}  // namespace hearth::vision::transforms
