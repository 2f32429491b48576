#pragma once

#include "hearth/vision/functional.h"

namespace hearth::vision::transforms {

/// The largest value of an image of this dtype: 1 for floats and booleans.
double largest_value(ScalarType dtype);
/// Throws unless the tensor is an image.
void check_image(const Tensor& img);
/// The number of channels of an image: one, if it has two dimensions.
int64_t channels_of(const Tensor& img);
/// Throws unless the tensor is an image with one of these numbers of channels.
void check_channels(const Tensor& img, std::initializer_list<int64_t> permitted);

/// An image as floats `[batch, channels, height, width]`; knows the original dtype and dimensions.
class FloatImage {
 public:
  explicit FloatImage(const Tensor& img);
  Tensor values;
  /// Returns a result in the image's dtype (integers are rounded) and number of dimensions.
  Tensor restore(Tensor result) const;

 private:
  ScalarType dtype_;
  std::vector<int64_t> leading_;  // the sizes before the channels
  bool has_channels_;
};

}  // namespace hearth::vision::transforms
