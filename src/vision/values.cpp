#include "vision/values.h"

#include <limits>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"

namespace hearth::vision::transforms {

double largest_value(ScalarType dtype) {
  switch (dtype) {
    case kByte: return 255;
    case kChar: return 127;
    case kShort: return 32767;
    case kInt: return 2147483647;
    case kLong: return 9223372036854775807.0;
    default: return 1;
  }
}

namespace {

/// The number of bits of the largest value of integers or booleans.
int value_bits(ScalarType dtype) {
  if (dtype == kBool) return 1;
  return 8 * int(element_size(dtype)) - (dtype == kByte ? 0 : 1);
}

}  // namespace

void check_image(const Tensor& img) {
  HEARTH_CHECK_AS(TypeError, img.defined() && img.dim() >= 2, "Tensor is not a torch image.");
}

int64_t channels_of(const Tensor& img) { return img.dim() == 2 ? 1 : img.size(-3); }

void check_channels(const Tensor& img, std::initializer_list<int64_t> permitted) {
  check_image(img);
  const int64_t channels = channels_of(img);
  for (const int64_t count : permitted)
    if (count == channels) return;
  hearth::detail::fail<TypeError>("Input image tensor permitted channel values are ",
                                  IntArrayRef(permitted), ", but found ", channels);
}

FloatImage::FloatImage(const Tensor& img) : dtype_(img.scalar_type()) {
  check_image(img);
  const int64_t leading = std::max<int64_t>(img.dim() - 3, 0);
  leading_ = img.sizes().slice(0, size_t(leading)).vec();
  values = img.dim() == 2   ? img.unsqueeze(0).unsqueeze(0)
           : img.dim() == 3 ? img.unsqueeze(0)
                            : img.flatten(0, leading - 1);
  if (dtype_ != kDouble) values = values.to(kFloat);
  has_channels_ = img.dim() > 2;
}

Tensor FloatImage::restore(Tensor result) const {
  if (is_integral(dtype_, /*include_bool=*/false)) result = result.round();
  result = result.to(dtype_);
  if (!has_channels_) return result.squeeze(0).squeeze(0);
  if (leading_.size() == 1) return result;
  if (leading_.empty()) return result.squeeze(0);
  return result.unflatten(0, leading_);
}

namespace functional {

ImageSize get_image_size(const Tensor& img) {
  check_image(img);
  return {img.size(-2), img.size(-1)};
}

Tensor convert_image_dtype(const Tensor& image, ScalarType dtype) {
  const ScalarType from = image.scalar_type();
  if (from == dtype) return image;
  if (is_floating_point(from) && is_floating_point(dtype)) return image.to(dtype);
  if (is_floating_point(from)) {
    HEARTH_CHECK(!(from == kFloat && (dtype == kInt || dtype == kLong)) &&
                     !(from == kDouble && dtype == kLong),
                 "The cast from ", name_of(from), " to ", name_of(dtype),
                 " cannot be performed safely.");
    // The factor is just below largest + 1, so that truncation maps 1 to the largest value.
    return image.mul(largest_value(dtype) + 1 - 1e-3).to(dtype);
  }
  if (is_floating_point(dtype)) return image.to(dtype).div(largest_value(from));
  const int shift = value_bits(from) - value_bits(dtype);
  if (shift > 0) return image.div(int64_t{1} << shift, "floor").to(dtype);
  return image.to(dtype).mul(int64_t{1} << -shift);
}

Tensor normalize(const Tensor& tensor, ArrayRef<double> mean, ArrayRef<double> std) {
  HEARTH_CHECK_AS(TypeError, tensor.is_floating_point(),
                  "Input tensor should be a float tensor. Got ", name_of(tensor.scalar_type()),
                  ".");
  HEARTH_CHECK_AS(ValueError, tensor.dim() >= 3,
                  "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() "
                  "= ",
                  tensor.sizes());
  const auto per_channel = [&](ArrayRef<double> values) {
    HEARTH_CHECK(values.size() == 1 || int64_t(values.size()) == tensor.size(-3), "normalize: got ",
                 values.size(), " values for an image of ", tensor.size(-3), " channels");
    return hearth::tensor(values, tensor.options().requires_grad(false)).view({-1, 1, 1});
  };
  // On the CPU, because a GPU would have to be waited for.
  const Tensor deviations = hearth::tensor(std, tensor.scalar_type());
  HEARTH_CHECK_AS(ValueError, deviations.ne(0).all().item<bool>(),
                  "std evaluated to zero after conversion to ", name_of(tensor.scalar_type()),
                  ", leading to division by zero.");
  return tensor.sub(per_channel(mean)).div(per_channel(std));
}

}  // namespace functional

}  // namespace hearth::vision::transforms
