#pragma once

#include <vector>

#include "hearth/vision/transforms.h"

// torchvision's random distortions of images.
namespace hearth::vision::transforms {

/// functional::perspective with probability p. Each corner moves towards the centre by at most
/// `distortion_scale` of the way.
class HEARTH_API RandomPerspective : public RandomTransform {
 public:
  explicit RandomPerspective(double distortion_scale = 0.5, double p = 0.5,
                             InterpolationMode interpolation = InterpolationMode::BILINEAR,
                             std::vector<double> fill = {0});

 private:
  Tensor change(Tensor img) override;

  double distortion_scale_;
  InterpolationMode interpolation_;
  std::vector<double> fill_;
};
/// functional::elastic_transform with random displacements: uniform numbers times alpha {x, y}
/// pixels, blurred with the deviation sigma {x, y}.
class HEARTH_API ElasticTransform : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit ElasticTransform(Range alpha, Range sigma = {5, 5},
                            InterpolationMode interpolation = InterpolationMode::BILINEAR,
                            std::vector<double> fill = {0});
  explicit ElasticTransform(double alpha = 50, double sigma = 5)
      : ElasticTransform(Range{alpha, alpha}, Range{sigma, sigma}) {}

 private:
  Range alpha_, sigma_;
  InterpolationMode interpolation_;
  std::vector<double> fill_;
};

}  // namespace hearth::vision::transforms
