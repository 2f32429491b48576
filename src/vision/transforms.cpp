#include "hearth/vision/transforms.h"

#include <cmath>
#include <numeric>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "vision/random.h"

namespace hearth::vision::transforms {

namespace F = functional;

namespace {

constexpr int kAttempts = 10;  // to draw a rectangle that fits into the image

struct Rectangle {
  int64_t top, left, height, width;
};

/// Returns the size of a rectangle with a random share of the image's area and a random ratio: of
/// width to height or, if height_first, of height to width.
ImageSize random_size(ImageSize image, Range scale, Range ratio, bool height_first) {
  const double area = double(image.height * image.width) * random_uniform(scale);
  const double factor = std::exp(random_uniform({std::log(ratio[0]), std::log(ratio[1])}));
  const auto first = int64_t(std::nearbyint(std::sqrt(area * factor))),
             second = int64_t(std::nearbyint(std::sqrt(area / factor)));
  return height_first ? ImageSize{first, second} : ImageSize{second, first};
}

/// Returns a rectangle of this size at a random position in the image.
Rectangle random_rectangle(ImageSize image, ImageSize size) {
  const int64_t top = random_below(0, image.height - size.height + 1);
  return {top, random_below(0, image.width - size.width + 1), size.height, size.width};
}

/// Returns the rectangle that RandomResizedCrop resizes.
Rectangle resized_rectangle(ImageSize image, Range scale, Range ratio) {
  for (int i = 0; i < kAttempts; ++i) {
    const ImageSize size = random_size(image, scale, ratio, /*height_first=*/false);
    const bool fits = size.width > 0 && size.width <= image.width && size.height > 0 &&
                      size.height <= image.height;
    if (fits) return random_rectangle(image, size);
  }
  // The largest central rectangle whose ratio is allowed.
  ImageSize size = image;
  const double image_ratio = double(image.width) / double(image.height);
  if (image_ratio < ratio[0])
    size.height = int64_t(std::nearbyint(double(image.width) / ratio[0]));
  else if (image_ratio > ratio[1])
    size.width = int64_t(std::nearbyint(double(image.height) * ratio[1]));
  return {(image.height - size.height) / 2, (image.width - size.width) / 2, size.height,
          size.width};
}

void check_not_empty(const std::vector<ImageFunction>& transforms) {
  HEARTH_CHECK_AS(ValueError, !transforms.empty(), "Pass at least one transform");
}

void check_ranges(Range scale, Range ratio) {
  HEARTH_CHECK_AS(ValueError,
                  0 <= scale[0] && scale[0] <= scale[1] && 0 < ratio[0] && ratio[0] <= ratio[1],
                  "Scale and ratio should be of kind (min, max)");
}

std::vector<int64_t> two_sizes(std::vector<int64_t> size) {
  HEARTH_CHECK_AS(ValueError, size.size() == 1 || size.size() == 2,
                  "Please provide only two dimensions (h, w) for size.");
  if (size.size() == 1) size.push_back(size[0]);
  return size;
}

}  // namespace

double random_uniform(Range range) {
  return empty({1}).uniform_(range[0], range[1]).item<double>();
}
int64_t random_below(int64_t low, int64_t high) { return randint(low, high, {1}).item<int64_t>(); }

RandomTransform::RandomTransform(double p) : p_(p) {
  HEARTH_CHECK_AS(ValueError, p >= 0 && p <= 1,
                  "`p` should be a floating point value in the interval [0.0, 1.0].");
}
Tensor RandomTransform::operator()(Tensor img) {
  return rand({1}).item<double>() < p_ ? change(std::move(img)) : img;
}

Tensor Compose::operator()(Tensor img) {
  for (ImageFunction& transform : transforms_) img = transform(std::move(img));
  return img;
}

Tensor RandomApply::change(Tensor img) { return transforms_(std::move(img)); }

RandomChoice::RandomChoice(std::vector<ImageFunction> transforms, std::vector<double> p)
    : transforms_(std::move(transforms)), p_(std::move(p)) {
  check_not_empty(transforms_);
  if (p_.empty()) p_.assign(transforms_.size(), 1);
  HEARTH_CHECK_AS(ValueError, p_.size() == transforms_.size(),
                  "Length of p doesn't match the number of transforms: ", p_.size(),
                  " != ", transforms_.size());
  const double total = std::accumulate(p_.begin(), p_.end(), 0.0);
  for (double& probability : p_) probability /= total;
}
Tensor RandomChoice::operator()(Tensor img) {
  const Tensor chosen = multinomial(tensor(ArrayRef<double>(p_), kFloat), 1);
  return transforms_[size_t(chosen.item<int64_t>())](std::move(img));
}

RandomOrder::RandomOrder(std::vector<ImageFunction> transforms)
    : transforms_(std::move(transforms)) {
  check_not_empty(transforms_);
}
Tensor RandomOrder::operator()(Tensor img) {
  const Tensor order = randperm(int64_t(transforms_.size()));
  for (size_t i = 0; i < transforms_.size(); ++i)
    img = transforms_[size_t(order.data_ptr<int64_t>()[i])](std::move(img));
  return img;
}

Tensor Resize::operator()(Tensor img) {
  return F::resize(img, size_, interpolation_, max_size_, antialias_);
}
Tensor CenterCrop::operator()(Tensor img) { return F::center_crop(img, size_); }
Tensor Pad::operator()(Tensor img) { return F::pad(img, padding_, fill_, padding_mode_); }

RandomCrop::RandomCrop(std::vector<int64_t> size, std::vector<int64_t> padding, bool pad_if_needed,
                       double fill, PaddingMode padding_mode)
    : size_(two_sizes(std::move(size))),
      padding_(std::move(padding)),
      pad_if_needed_(pad_if_needed),
      fill_(fill),
      padding_mode_(padding_mode) {}

Tensor RandomCrop::operator()(Tensor img) {
  if (!padding_.empty()) img = F::pad(img, padding_, fill_, padding_mode_);
  const int64_t height = size_[0], width = size_[1];
  if (pad_if_needed_ && F::get_image_size(img).width < width)
    img = F::pad(img, {width - F::get_image_size(img).width, 0}, fill_, padding_mode_);
  if (pad_if_needed_ && F::get_image_size(img).height < height)
    img = F::pad(img, {0, height - F::get_image_size(img).height}, fill_, padding_mode_);
  const ImageSize image = F::get_image_size(img);
  HEARTH_CHECK_AS(ValueError, image.height >= height && image.width >= width,
                  "Required crop size (", height, ", ", width,
                  ") is larger than input image size (", image.height, ", ", image.width, ")");
  if (image.height == height && image.width == width) return img;
  const Rectangle part = random_rectangle(image, {height, width});
  return F::crop(img, part.top, part.left, part.height, part.width);
}

RandomResizedCrop::RandomResizedCrop(std::vector<int64_t> size, Range scale, Range ratio,
                                     InterpolationMode interpolation, bool antialias)
    : size_(two_sizes(std::move(size))),
      scale_(scale),
      ratio_(ratio),
      interpolation_(interpolation),
      antialias_(antialias) {
  check_ranges(scale, ratio);
}

Tensor RandomResizedCrop::operator()(Tensor img) {
  const Rectangle part = resized_rectangle(F::get_image_size(img), scale_, ratio_);
  return F::resized_crop(img, part.top, part.left, part.height, part.width, size_, interpolation_,
                         antialias_);
}

Tensor RandomHorizontalFlip::change(Tensor img) { return F::hflip(img); }
Tensor RandomVerticalFlip::change(Tensor img) { return F::vflip(img); }

RandomRotation::RandomRotation(Range degrees, InterpolationMode interpolation, bool expand,
                               std::optional<std::array<double, 2>> center, double fill)
    : degrees_(degrees),
      interpolation_(interpolation),
      expand_(expand),
      center_(center),
      fill_(fill) {
  HEARTH_CHECK_AS(ValueError, degrees[0] <= degrees[1],
                  "If degrees is a single number, it must be positive.");
}
Tensor RandomRotation::operator()(Tensor img) {
  return F::rotate(img, random_uniform(degrees_), interpolation_, expand_, center_, fill_);
}

RandomAffine::RandomAffine(RandomAffineOptions options) : options_(std::move(options)) {
  const RandomAffineOptions& o = options_;
  HEARTH_CHECK_AS(ValueError, o.degrees()[0] <= o.degrees()[1],
                  "If degrees is a single number, it must be positive.");
  if (o.translate())
    for (const double share : *o.translate())
      HEARTH_CHECK_AS(ValueError, share >= 0 && share <= 1,
                      "translation values should be between 0 and 1");
  HEARTH_CHECK_AS(ValueError, !o.scale() || (*o.scale())[0] > 0, "scale values should be positive");
  std::vector<double>& shear = options_.shear();
  HEARTH_CHECK_AS(ValueError, shear.size() <= 2 || shear.size() == 4,
                  "shear should be a sequence of length 2 or 4.");
  if (shear.size() == 1) shear = {-shear[0], shear[0]};
}

Tensor RandomAffine::operator()(Tensor img) {
  const RandomAffineOptions& o = options_;
  const ImageSize size = F::get_image_size(img);
  const double angle = random_uniform(o.degrees());
  std::array<int64_t, 2> offset{0, 0};
  if (o.translate())
    for (size_t i = 0; i < 2; ++i) {
      const double max_offset = (*o.translate())[i] * double(i == 0 ? size.width : size.height);
      offset[i] = int64_t(std::nearbyint(random_uniform({-max_offset, max_offset})));
    }
  const double scale = o.scale() ? random_uniform(*o.scale()) : 1;
  std::array<double, 2> shear{0, 0};
  for (size_t i = 0; i < o.shear().size() / 2; ++i)
    shear[i] = random_uniform({o.shear()[2 * i], o.shear()[2 * i + 1]});
  return F::affine(img, angle, offset, scale, shear, o.interpolation(), o.fill(), o.center());
}

Tensor ConvertImageDtype::operator()(Tensor img) { return F::convert_image_dtype(img, dtype_); }
Tensor Normalize::operator()(Tensor img) { return F::normalize(img, mean_, std_); }

LinearTransformation::LinearTransformation(Tensor transformation_matrix, Tensor mean_vector)
    : transformation_matrix_(std::move(transformation_matrix)),
      mean_vector_(std::move(mean_vector)) {
  const Tensor &matrix = transformation_matrix_, &mean = mean_vector_;
  HEARTH_CHECK_AS(ValueError, matrix.dim() == 2 && matrix.size(0) == matrix.size(1),
                  "transformation_matrix should be square. Got ", matrix.sizes(),
                  " rectangular matrix.");
  HEARTH_CHECK_AS(ValueError, mean.dim() == 1 && mean.size(0) == matrix.size(0),
                  "mean_vector should have the same length ", mean.sizes(),
                  " as any one of the dimensions of the transformation_matrix ", matrix.sizes());
  HEARTH_CHECK_AS(ValueError, matrix.device() == mean.device(),
                  "Input tensors should be on the same device. Got ", matrix.device(), " and ",
                  mean.device());
  HEARTH_CHECK_AS(ValueError, matrix.scalar_type() == mean.scalar_type(),
                  "Input tensors should have the same dtype. Got ", name_of(matrix.scalar_type()),
                  " and ", name_of(mean.scalar_type()));
}
Tensor LinearTransformation::operator()(Tensor img) {
  const int64_t n = mean_vector_.size(0);
  HEARTH_CHECK_AS(ValueError, img.dim() >= 3 && img.size(-3) * img.size(-2) * img.size(-1) == n,
                  "Input tensor and transformation matrix have incompatible shape. ", img.sizes(),
                  " != ", n);
  HEARTH_CHECK_AS(
      ValueError, img.device().type() == mean_vector_.device().type(),
      "Input tensor should be on the same device as transformation matrix and mean vector. Got ",
      img.device(), " vs ", mean_vector_.device());
  const Tensor flat = img.reshape({-1, n}) - mean_vector_;
  return flat.matmul(transformation_matrix_.to(flat.scalar_type())).view(img.sizes());
}

RandomErasing::RandomErasing(double p, Range scale, Range ratio, std::vector<double> value,
                             bool inplace)
    : RandomTransform(p),
      scale_(scale),
      ratio_(ratio),
      value_(std::move(value)),
      inplace_(inplace) {
  check_ranges(scale, ratio);
  HEARTH_CHECK_AS(ValueError, scale[1] <= 1, "Scale should be between 0 and 1");
}

Tensor RandomErasing::change(Tensor img) {
  const ImageSize image = F::get_image_size(img);
  const int64_t channels = img.size(-3);
  HEARTH_CHECK_AS(ValueError, value_.size() <= 1 || int64_t(value_.size()) == channels,
                  "If value is a sequence, it should have either a single value or ", channels,
                  " (number of input channels)");
  for (int i = 0; i < kAttempts; ++i) {
    const ImageSize size = random_size(image, scale_, ratio_, /*height_first=*/true);
    if (size.height >= image.height || size.width >= image.width) continue;
    const Tensor values = value_.empty()
                              ? empty({channels, size.height, size.width}).normal_()
                              : tensor(ArrayRef<double>(value_), kFloat).view({-1, 1, 1});
    const Rectangle part = random_rectangle(image, size);
    return F::erase(img, part.top, part.left, part.height, part.width, values, inplace_);
  }
  return img;
}

}  // namespace hearth::vision::transforms
