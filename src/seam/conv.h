#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The maximum number of spatial dimensions of a convolution.
inline constexpr int kMaxSpatial = 3;

/// The tensor of `out = conv(in, weight)` that is computed from the other two.
enum class ConvPart : int8_t {
  kOut,     // the convolution
  kIn,      // the gradient of in, from out's gradient; also a transposed convolution
  kWeight,  // the gradient of weight, from out's gradient
};

/// `out[n, o, p]` is the sum over c and k of
/// `weight[o, c, k] * in[n, first channel of o's group + c, stride * p + dilation * k - padding]`.
/// in is [N, C, size…], weight [O, C / groups, kernel…], out [N, O, size…], all of one floating
/// dtype, with 1 to 3 spatial dimensions and any strides. `bias` may be undefined; otherwise it is
/// added, one element per channel of the computed tensor (in or out). No tensor is empty.
struct ConvParams {
  View in, weight, out, bias;
  ConvPart part = ConvPart::kOut;
  int64_t stride[kMaxSpatial] = {1, 1, 1};
  int64_t padding[kMaxSpatial] = {0, 0, 0};
  int64_t dilation[kMaxSpatial] = {1, 1, 1};
  int64_t groups = 1;

  int spatial() const { return in.dim - 2; }
  View& computed() { return part == ConvPart::kOut ? out : part == ConvPart::kIn ? in : weight; }
  const View& computed() const { return const_cast<ConvParams*>(this)->computed(); }
};

}  // namespace hearth
