// conv_tbc and conv_depthwise3d, by conv1d and conv3d.
#include "ops/autocast.h"
#include "ops/define.h"

namespace hearth {

namespace {

struct ConvTbc {
  struct Args {
    int64_t pad;
    HEARTH_FIELDS(pad)
  };
  static constexpr OpInfo info{
      .name = "conv_tbc", .arguments = "self,weight,bias", .amp = Amp::kLower};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& weight,
                        const Tensor& bias) {
    HEARTH_CHECK(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel");
    HEARTH_CHECK(weight.dim() == 3,
                 "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
    HEARTH_CHECK(bias.dim() == 1, "Bias must be 1-D");
    HEARTH_CHECK(self.size(2) == weight.size(1),
                 "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
    HEARTH_CHECK(weight.size(2) == bias.size(0),
                 "Bias size must equal dim 2 in the weight tensor (output channels).");
    const Dims sizes{self.size(0) - weight.size(0) + 1 + 2 * args.pad, self.size(1),
                     weight.size(2)};
    HEARTH_CHECK(sizes[0] >= 0, "Trying to create tensor with negative dimension ", sizes[0], ": ",
                 sizes);
    return conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, 1, args.pad)
        .permute({2, 0, 1})
        .contiguous();
  }
};

struct ConvDepthwise3d {
  struct Args {
    Dims kernel_size, stride, padding, dilation;
    HEARTH_FIELDS(kernel_size, stride, padding, dilation)
  };
  static constexpr OpInfo info{
      .name = "conv_depthwise3d", .arguments = "self,weight,bias", .optional = in_slot(2)};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& weight,
                        const Tensor& bias) {
    HEARTH_CHECK(self.dim() == 4 || self.dim() == 5,
                 "conv_depthwise3d: expected a 4-D or 5-D input, but got ", self.sizes());
    HEARTH_CHECK(weight.dim() == 5 && weight.size(1) == 1 &&
                     weight.sizes().slice(2) == IntArrayRef(args.kernel_size),
                 "conv_depthwise3d: expected a weight [channels, 1, kernel…] with kernel_size=",
                 args.kernel_size, ", but got ", weight.sizes());
    const NoAutocast keeps_dtypes;
    return conv3d(self, weight, bias.defined() ? std::optional(bias) : std::nullopt, args.stride,
                  args.padding, args.dilation, self.size(-4));
  }
};

}  // namespace

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  return compose<ConvTbc>({pad}, self, weight, bias);
}

Tensor conv_depthwise3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                        const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation) {
  return compose<ConvDepthwise3d>({kernel_size, stride, padding, dilation}, self, weight,
                                  or_undefined(bias));
}

}  // namespace hearth
