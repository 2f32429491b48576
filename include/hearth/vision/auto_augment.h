#pragma once

#include <vector>

#include "hearth/vision/transforms.h"

// torchvision's policies of random augmentations, for images of bytes.
namespace hearth::vision::transforms {

/// Applies num_ops random transforms (the paper "RandAugment"). Their strength is the level
/// `magnitude` of num_magnitude_bins levels.
class HEARTH_API RandAugment : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandAugment(int64_t num_ops = 2, int64_t magnitude = 9, int64_t num_magnitude_bins = 31,
                       InterpolationMode interpolation = InterpolationMode::NEAREST,
                       std::vector<double> fill = {});

 private:
  int64_t num_ops_, magnitude_, num_magnitude_bins_;
  InterpolationMode interpolation_;
  std::vector<double> fill_;
};
/// The data for which a policy of AutoAugment was found.
enum class AutoAugmentPolicy : int8_t { IMAGENET, CIFAR10, SVHN };
/// Applies one of the policy's 25 pairs of transforms, each with a probability and a magnitude (the
/// paper "AutoAugment").
class HEARTH_API AutoAugment : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit AutoAugment(AutoAugmentPolicy policy = AutoAugmentPolicy::IMAGENET,
                       InterpolationMode interpolation = InterpolationMode::NEAREST,
                       std::vector<double> fill = {})
      : policy_(policy), interpolation_(interpolation), fill_(std::move(fill)) {}

 private:
  AutoAugmentPolicy policy_;
  InterpolationMode interpolation_;
  std::vector<double> fill_;
};
/// Applies one random transform of random strength (the paper "TrivialAugment").
class HEARTH_API TrivialAugmentWide : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit TrivialAugmentWide(int64_t num_magnitude_bins = 31,
                              InterpolationMode interpolation = InterpolationMode::NEAREST,
                              std::vector<double> fill = {});

 private:
  int64_t num_magnitude_bins_;
  InterpolationMode interpolation_;
  std::vector<double> fill_;
};

/// Options of AugMix.
struct HEARTH_API AugMixOptions {
  HEARTH_ARG(int64_t, severity) = 3;       ///< strength of the transforms, 1 to 10
  HEARTH_ARG(int64_t, mixture_width) = 3;  ///< chains of transforms
  HEARTH_ARG(int64_t, chain_depth) = -1;   ///< transforms of a chain; by default 1 to 3 at random
  HEARTH_ARG(double, alpha) = 1;           ///< of the weights' Dirichlet distribution
  HEARTH_ARG(bool, all_ops) = true;        ///< whether chains change colours and sharpness, too
  HEARTH_ARG(InterpolationMode, interpolation) = InterpolationMode::BILINEAR;  ///< between pixels
  HEARTH_ARG(std::vector<double>, fill);  ///< values outside the image
};
/// A random mixture of the image and of results of chains of random transforms (the paper
/// "AugMix").
class HEARTH_API AugMix : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit AugMix(AugMixOptions options = {});

 private:
  AugMixOptions options_;
};

}  // namespace hearth::vision::transforms
