#include "hearth/vision/distortions.h"

#include <algorithm>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "vision/random.h"
#include "vision/sampling.h"
#include "vision/values.h"

namespace hearth::vision::transforms {

namespace F = functional;

namespace {

/// Returns the eight coefficients of the projection that maps points of the result to the image:
/// ((a x + b y + c) / (g x + h y + 1), (d x + e y + f) / (g x + h y + 1)).
Tensor projection(const Corners& startpoints, const Corners& endpoints) {
  const Tensor equations = zeros({8, 8}, kDouble), solutions = empty({8}, kDouble);
  for (size_t i = 0; i < 8; ++i) {
    const auto [x, y] = endpoints[i / 2];
    const auto result = double(startpoints[i / 2][i % 2]);
    double* const row = equations.data_ptr<double>() + 8 * i;
    const size_t first = 3 * (i % 2);
    row[first] = double(x);
    row[first + 1] = double(y);
    row[first + 2] = 1;
    row[6] = -result * double(x);
    row[7] = -result * double(y);
    solutions.data_ptr<double>()[i] = result;
  }
  return std::get<0>(linalg_lstsq(equations, solutions.unsqueeze(1), {}, "gels")).to(kFloat);
}

/// Returns random displacements `[1, 1, height, width]` in one direction, of at most `alpha`
/// pixels; `length` is the image's extent.
Tensor displacements(ImageSize size, Range sigma, size_t direction, double alpha, int64_t length) {
  constexpr double kMaxKernel = 1e6;
  Tensor result = rand({1, 1, size.height, size.width}) * 2 - 1;
  if (sigma[direction] > 0) {
    // An odd number.
    const int64_t kernel = int64_t(std::min(8 * sigma[direction] + 1, kMaxKernel)) | 1;
    result = F::gaussian_blur(result, {kernel, kernel}, sigma);
  }
  return result * alpha / length;
}

}  // namespace

namespace functional {

Tensor perspective(const Tensor& img, const Corners& startpoints, const Corners& endpoints,
                   InterpolationMode interpolation, ArrayRef<double> fill) {
  const auto [height, width] = get_image_size(img);
  const Tensor coefficients = projection(startpoints, endpoints);
  const auto c = [&](size_t i) { return double(coefficients.data_ptr<float>()[i]); };
  const TensorOptions options = float_options(img);
  const Tensor x = linspace(0.5, double(width) - 0.5, width, options),
               y = linspace(0.5, double(height) - 0.5, height, options).unsqueeze(1);
  const Tensor divisor = x * c(6) + y * c(7) + 1;
  const auto coordinate = [&](size_t i, int64_t length) {
    const double unit = 2 / double(length);
    return (x * (c(i) * unit) + y * (c(i + 1) * unit) + c(i + 2) * unit) / divisor - 1;
  };
  const Tensor grid = stack({coordinate(0, width), coordinate(3, height)}, -1).unsqueeze(0);
  return sampled(img, grid, interpolation, fill);
}

Tensor elastic_transform(const Tensor& img, const Tensor& displacement,
                         InterpolationMode interpolation, ArrayRef<double> fill) {
  const auto [height, width] = get_image_size(img);
  HEARTH_CHECK_AS(ValueError, displacement.sizes() == IntArrayRef({1, height, width, 2}),
                  "Argument displacement shape should be (1, ", height, ", ", width,
                  ", 2), but given ", displacement.sizes());
  const TensorOptions options = float_options(img);
  const auto identity = [&](int64_t length) {
    const double last = double(length - 1) / double(length);
    return linspace(-last, last, length, options);
  };
  const std::vector<Tensor> points = meshgrid({identity(height), identity(width)}, "ij");
  const Tensor grid = stack({points[1], points[0]}, -1).unsqueeze(0);
  return sampled(img, grid + displacement.to(options), interpolation, fill);
}

}  // namespace functional

RandomPerspective::RandomPerspective(double distortion_scale, double p,
                                     InterpolationMode interpolation, std::vector<double> fill)
    : RandomTransform(p),
      distortion_scale_(distortion_scale),
      interpolation_(interpolation),
      fill_(std::move(fill)) {
  HEARTH_CHECK_AS(ValueError, distortion_scale >= 0 && distortion_scale <= 1,
                  "Argument distortion_scale value should be between 0 and 1");
}

Tensor RandomPerspective::change(Tensor img) {
  const auto [height, width] = F::get_image_size(img);
  const Corners corners{{{0, 0}, {width - 1, 0}, {width - 1, height - 1}, {0, height - 1}}};
  Corners moved;
  for (size_t corner = 0; corner < 4; ++corner)
    for (size_t i = 0; i < 2; ++i) {
      const int64_t length = i == 0 ? width : height;
      const auto reach = int64_t(distortion_scale_ * double(length / 2));
      const bool is_at_start = i == 0 ? corner % 3 == 0 : corner < 2;
      moved[corner][i] =
          is_at_start ? random_below(0, reach + 1) : random_below(length - reach - 1, length);
    }
  return F::perspective(img, corners, moved, interpolation_, fill_);
}

ElasticTransform::ElasticTransform(Range alpha, Range sigma, InterpolationMode interpolation,
                                   std::vector<double> fill)
    : alpha_(alpha), sigma_(sigma), interpolation_(interpolation), fill_(std::move(fill)) {}

Tensor ElasticTransform::operator()(Tensor img) {
  const ImageSize size = F::get_image_size(img);
  const Tensor x = displacements(size, sigma_, 0, alpha_[0], size.width),
               y = displacements(size, sigma_, 1, alpha_[1], size.height);
  return F::elastic_transform(img, cat({x, y}, 1).permute({0, 2, 3, 1}), interpolation_, fill_);
}

}  // namespace hearth::vision::transforms
