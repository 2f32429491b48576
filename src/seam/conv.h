#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The most spatial dimensions of a convolution.
inline constexpr int kMaxSpatial = 3;

/// Which tensor of out = conv(in, weight) is computed from the other two.
enum class ConvPart : int8_t {
  kOut,     // the convolution
  kIn,      // its gradient with respect to in, from that of out; a transposed convolution
  kWeight,  // its gradient with respect to weight, from that of out
};

/// out[n, o, p] = sum over c and k of
/// weight[o, c, k] * in[n, group of o + c, stride * p + dilation * k - padding]: in [N, C, size…],
/// weight [O, C / groups, kernel…], out [N, O, size…], all of one floating dtype, with 1 to 3
/// spatial dimensions and free strides. `bias`, one element per channel of what is computed (in or
/// out), is added; it may be undefined. Nothing is empty.
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

namespace cpu {
void run(const ConvParams& params, Ctx& ctx);
}
namespace cuda {
void run(const ConvParams& params, Ctx& ctx);
}

}  // namespace hearth
