#pragma once

#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/data/transforms.h"
#include "hearth/vision/functional.h"

// Transforms of torchvision.transforms, for datasets' map() or as functions of an image, with the
// same random numbers as in Python.
namespace hearth::vision::transforms {

/// Base of transforms of images.
using ImageTransform = data::transforms::TensorTransform<>;
/// Any function of an image, such as a transform.
using ImageFunction = std::function<Tensor(Tensor)>;
/// The least and the greatest value of a random number.
using Range = std::array<double, 2>;

/// Base of transforms that change an image with probability p.
class HEARTH_API RandomTransform : public ImageTransform {
 public:
  Tensor operator()(Tensor img) final;

 protected:
  explicit RandomTransform(double p);
  virtual Tensor change(Tensor img) = 0;

 private:
  double p_;
};

/// Applies transforms one after the other.
class HEARTH_API Compose : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit Compose(std::vector<ImageFunction> transforms) : transforms_(std::move(transforms)) {}

 private:
  std::vector<ImageFunction> transforms_;
};
/// With probability p applies all transforms, otherwise none.
class HEARTH_API RandomApply : public RandomTransform {
 public:
  explicit RandomApply(std::vector<ImageFunction> transforms, double p = 0.5)
      : RandomTransform(p), transforms_(std::move(transforms)) {}

 private:
  Tensor change(Tensor img) override;

  Compose transforms_;
};

/// Applies one of the transforms: i with probability p[i] / sum(p), by default each equally often.
class HEARTH_API RandomChoice : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandomChoice(std::vector<ImageFunction> transforms, std::vector<double> p = {});

 private:
  std::vector<ImageFunction> transforms_;
  std::vector<double> p_;
};
/// Applies all transforms in random order.
class HEARTH_API RandomOrder : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandomOrder(std::vector<ImageFunction> transforms);

 private:
  std::vector<ImageFunction> transforms_;
};

/// functional::resize.
class HEARTH_API Resize : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit Resize(std::vector<int64_t> size,
                  InterpolationMode interpolation = InterpolationMode::BILINEAR,
                  std::optional<int64_t> max_size = {}, bool antialias = true)
      : size_(std::move(size)),
        max_size_(max_size),
        interpolation_(interpolation),
        antialias_(antialias) {}
  explicit Resize(int64_t size) : Resize(std::vector<int64_t>{size}) {}

 private:
  std::vector<int64_t> size_;
  std::optional<int64_t> max_size_;
  InterpolationMode interpolation_;
  bool antialias_;
};
/// functional::center_crop.
class HEARTH_API CenterCrop : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit CenterCrop(std::vector<int64_t> size) : size_(std::move(size)) {}
  explicit CenterCrop(int64_t size) : size_{size} {}

 private:
  std::vector<int64_t> size_;
};
/// functional::five_crop.
class FiveCrop {
 public:
  explicit FiveCrop(std::vector<int64_t> size) : size_(std::move(size)) {}
  explicit FiveCrop(int64_t size) : size_{size} {}
  /// The five parts.
  std::vector<Tensor> operator()(const Tensor& img) const {
    return functional::five_crop(img, size_);
  }

 private:
  std::vector<int64_t> size_;
};
/// functional::ten_crop.
class TenCrop {
 public:
  explicit TenCrop(std::vector<int64_t> size, bool vertical_flip = false)
      : size_(std::move(size)), vertical_flip_(vertical_flip) {}
  explicit TenCrop(int64_t size, bool vertical_flip = false)
      : TenCrop(std::vector<int64_t>{size}, vertical_flip) {}
  /// The ten parts.
  std::vector<Tensor> operator()(const Tensor& img) const {
    return functional::ten_crop(img, size_, vertical_flip_);
  }

 private:
  std::vector<int64_t> size_;
  bool vertical_flip_;
};
/// functional::pad.
class HEARTH_API Pad : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit Pad(std::vector<int64_t> padding, double fill = 0,
               PaddingMode padding_mode = PaddingMode::CONSTANT)
      : padding_(std::move(padding)), fill_(fill), padding_mode_(padding_mode) {}
  explicit Pad(int64_t padding) : Pad(std::vector<int64_t>{padding}) {}

 private:
  std::vector<int64_t> padding_;
  double fill_;
  PaddingMode padding_mode_;
};
/// A part of the given size at a random position, after padding; pad_if_needed pads small images.
class HEARTH_API RandomCrop : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandomCrop(std::vector<int64_t> size, std::vector<int64_t> padding = {},
                      bool pad_if_needed = false, double fill = 0,
                      PaddingMode padding_mode = PaddingMode::CONSTANT);
  explicit RandomCrop(int64_t size, int64_t padding = 0)
      : RandomCrop({size, size},
                   padding == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{padding}) {}

 private:
  std::vector<int64_t> size_, padding_;
  bool pad_if_needed_;
  double fill_;
  PaddingMode padding_mode_;
};
/// A part with a random fraction (`scale`) of the area and a random ratio of width to height,
/// resized.
class HEARTH_API RandomResizedCrop : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandomResizedCrop(std::vector<int64_t> size, Range scale = {0.08, 1},
                             Range ratio = {3.0 / 4, 4.0 / 3},
                             InterpolationMode interpolation = InterpolationMode::BILINEAR,
                             bool antialias = true);
  explicit RandomResizedCrop(int64_t size) : RandomResizedCrop({size, size}) {}

 private:
  std::vector<int64_t> size_;
  Range scale_, ratio_;
  InterpolationMode interpolation_;
  bool antialias_;
};

/// functional::hflip with probability p.
class HEARTH_API RandomHorizontalFlip : public RandomTransform {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : RandomTransform(p) {}

 private:
  Tensor change(Tensor img) override;
};
/// functional::vflip with probability p.
class HEARTH_API RandomVerticalFlip : public RandomTransform {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : RandomTransform(p) {}

 private:
  Tensor change(Tensor img) override;
};
/// functional::rotate by a random angle.
class HEARTH_API RandomRotation : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandomRotation(Range degrees,
                          InterpolationMode interpolation = InterpolationMode::NEAREST,
                          bool expand = false, std::optional<std::array<double, 2>> center = {},
                          double fill = 0);
  /// Between -degrees and degrees.
  explicit RandomRotation(double degrees) : RandomRotation(Range{-degrees, degrees}) {}

 private:
  Range degrees_;
  InterpolationMode interpolation_;
  bool expand_;
  std::optional<std::array<double, 2>> center_;
  double fill_;
};

/// Options of RandomAffine.
struct HEARTH_API RandomAffineOptions {
  RandomAffineOptions(double degrees) : degrees_{-degrees, degrees} {}
  RandomAffineOptions(Range degrees) : degrees_(degrees) {}
  HEARTH_ARG(Range, degrees);  ///< angles
  /// The greatest translation, as fractions of {width, height}.
  HEARTH_ARG(std::optional<Range>, translate);
  HEARTH_ARG(std::optional<Range>, scale);  ///< factors of the size
  HEARTH_ARG(std::vector<double>, shear);   ///< degrees: {±x}, {x0, x1} or {x0, x1, y0, y1}
  HEARTH_ARG(InterpolationMode, interpolation) = InterpolationMode::NEAREST;  ///< between pixels
  HEARTH_ARG(double, fill) = 0;              ///< value outside the image
  HEARTH_ARG(std::optional<Range>, center);  ///< {x, y}; by default the image's centre
};
/// functional::affine with random arguments.
class HEARTH_API RandomAffine : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit RandomAffine(RandomAffineOptions options);

 private:
  RandomAffineOptions options_;
};

/// Changes brightness, contrast, saturation and hue by random factors, in random order.
class HEARTH_API ColorJitter : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  /// Factors from 1 - x (at least 0) to 1 + x; for hue, shifts from -hue to hue.
  explicit ColorJitter(double brightness = 0, double contrast = 0, double saturation = 0,
                       double hue = 0);
  ColorJitter(Range brightness, Range contrast, Range saturation, Range hue);

 private:
  Range brightness_, contrast_, saturation_, hue_;
};
/// functional::rgb_to_grayscale.
class HEARTH_API Grayscale : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit Grayscale(int64_t num_output_channels = 1) : num_output_channels_(num_output_channels) {}

 private:
  int64_t num_output_channels_;
};
/// functional::rgb_to_grayscale, with the number of channels unchanged, with probability p.
class HEARTH_API RandomGrayscale : public RandomTransform {
 public:
  explicit RandomGrayscale(double p = 0.1) : RandomTransform(p) {}

 private:
  Tensor change(Tensor img) override;
};
/// functional::invert with probability p.
class HEARTH_API RandomInvert : public RandomTransform {
 public:
  explicit RandomInvert(double p = 0.5) : RandomTransform(p) {}

 private:
  Tensor change(Tensor img) override;
};
/// functional::posterize with probability p.
class HEARTH_API RandomPosterize : public RandomTransform {
 public:
  explicit RandomPosterize(int64_t bits, double p = 0.5) : RandomTransform(p), bits_(bits) {}

 private:
  Tensor change(Tensor img) override;

  int64_t bits_;
};
/// functional::solarize with probability p.
class HEARTH_API RandomSolarize : public RandomTransform {
 public:
  explicit RandomSolarize(double threshold, double p = 0.5)
      : RandomTransform(p), threshold_(threshold) {}

 private:
  Tensor change(Tensor img) override;

  double threshold_;
};
/// functional::adjust_sharpness with probability p.
class HEARTH_API RandomAdjustSharpness : public RandomTransform {
 public:
  explicit RandomAdjustSharpness(double sharpness_factor, double p = 0.5)
      : RandomTransform(p), sharpness_factor_(sharpness_factor) {}

 private:
  Tensor change(Tensor img) override;

  double sharpness_factor_;
};
/// functional::autocontrast with probability p.
class HEARTH_API RandomAutocontrast : public RandomTransform {
 public:
  explicit RandomAutocontrast(double p = 0.5) : RandomTransform(p) {}

 private:
  Tensor change(Tensor img) override;
};
/// functional::equalize with probability p.
class HEARTH_API RandomEqualize : public RandomTransform {
 public:
  explicit RandomEqualize(double p = 0.5) : RandomTransform(p) {}

 private:
  Tensor change(Tensor img) override;
};
/// functional::gaussian_blur with a random sigma.
class HEARTH_API GaussianBlur : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit GaussianBlur(std::vector<int64_t> kernel_size, Range sigma = {0.1, 2});
  explicit GaussianBlur(int64_t kernel_size) : GaussianBlur({kernel_size, kernel_size}) {}

 private:
  std::vector<int64_t> kernel_size_;
  Range sigma_;
};

/// functional::convert_image_dtype.
class HEARTH_API ConvertImageDtype : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  explicit ConvertImageDtype(ScalarType dtype) : dtype_(dtype) {}

 private:
  ScalarType dtype_;
};
/// functional::normalize.
class HEARTH_API Normalize : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  Normalize(std::vector<double> mean, std::vector<double> std)
      : mean_(std::move(mean)), std_(std::move(std)) {}

 private:
  std::vector<double> mean_, std_;
};
/// (x - mean_vector) @ transformation_matrix of the flattened image x, for example to whiten it.
class HEARTH_API LinearTransformation : public ImageTransform {
 public:
  Tensor operator()(Tensor img) override;
  LinearTransformation(Tensor transformation_matrix, Tensor mean_vector);

 private:
  Tensor transformation_matrix_, mean_vector_;
};
/// With probability p, replaces a rectangle of random position, area (`scale`: a fraction of the
/// image's) and aspect ratio by one value, by one value per channel or, without values, by normally
/// distributed numbers.
class HEARTH_API RandomErasing : public RandomTransform {
 public:
  explicit RandomErasing(double p = 0.5, Range scale = {0.02, 0.33}, Range ratio = {0.3, 3.3},
                         std::vector<double> value = {0}, bool inplace = false);

 private:
  Tensor change(Tensor img) override;

  Range scale_, ratio_;
  std::vector<double> value_;
  bool inplace_;
};

}  // namespace hearth::vision::transforms
