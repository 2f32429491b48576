#include <algorithm>

#include "hearth/operators.h"
#include "hearth/vision/models.h"

namespace hearth::vision::models {

namespace {

using namespace nn;

/// Returns the nearest multiple of 8 that is at least 8 and at least 0.9 * channels.
int64_t rounded_channels(double channels) {
  const auto rounded = std::max<int64_t>(8, int64_t(channels + 4) / 8 * 8);
  return double(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

/// Convolution, batch norm and ReLU6.
Sequential conv_norm_relu(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
                          int64_t groups = 1) {
  const int64_t padding = (kernel - 1) / 2;
  return Sequential(Conv2d(Conv2dOptions(in, out, kernel)
                               .stride(stride)
                               .padding(padding)
                               .groups(groups)
                               .bias(false)),
                    BatchNorm2d(out), ReLU6(ReLU6Options(true)));
}

struct InvertedResidualImpl : Cloneable<InvertedResidualImpl> {
  InvertedResidualImpl(int64_t in_, int64_t out_, int64_t stride_, int64_t expand_ratio_)
      : in(in_), out(out_), stride(stride_), expand_ratio(expand_ratio_) {
    InvertedResidualImpl::reset();
  }
  void reset() override {
    const int64_t width = in * expand_ratio;
    Sequential layers;
    if (expand_ratio != 1) layers->push_back(conv_norm_relu(in, width, 1));
    layers->push_back(conv_norm_relu(width, width, 3, stride, width));
    layers->push_back(Conv2d(Conv2dOptions(width, out, 1).bias(false)));
    layers->push_back(BatchNorm2d(out));
    conv = register_module("conv", layers);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = conv->forward(x);
    return stride == 1 && in == out ? x + y : y;
  }

  int64_t in, out, stride, expand_ratio;
  Sequential conv = nullptr;
};

/// A group of blocks; only the first block has the stride.
struct Group {
  int64_t expand_ratio, channels, blocks, stride;
};
constexpr Group kGroups[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

}  // namespace

MobileNetV2Impl::MobileNetV2Impl(int64_t num_classes_, double width_mult_, double dropout_)
    : num_classes(num_classes_), width_mult(width_mult_), dropout(dropout_) {
  HEARTH_CHECK(width_mult > 0, "MobileNetV2: width_mult must be positive, got ", width_mult);
  MobileNetV2Impl::reset();
}

void MobileNetV2Impl::reset() {
  int64_t in = rounded_channels(32 * width_mult);
  const int64_t last = rounded_channels(1280 * std::max(1.0, width_mult));
  Sequential layers;
  layers->push_back(conv_norm_relu(3, in, 3, 2));
  for (const Group& group : kGroups) {
    const int64_t out = rounded_channels(double(group.channels) * width_mult);
    for (int64_t i = 0; i < group.blocks; ++i, in = out)
      layers->push_back(std::make_shared<InvertedResidualImpl>(in, out, i == 0 ? group.stride : 1,
                                                               group.expand_ratio));
  }
  layers->push_back(conv_norm_relu(in, last, 1));
  features = register_module("features", layers);
  classifier = register_module(
      "classifier", Sequential(Dropout(DropoutOptions(dropout)), Linear(last, num_classes)));
  for (const auto& module : modules(false)) {
    if (auto* conv = module->as<Conv2dImpl>()) init::kaiming_normal_(conv->weight, 0, kFanOut);
    if (auto* linear = module->as<LinearImpl>()) {
      init::normal_(linear->weight, 0, 0.01);
      init::constant_(linear->bias, 0);
    }
  }
}

Tensor MobileNetV2Impl::forward(Tensor x) {
  return classifier->forward(adaptive_avg_pool2d(features->forward(x), {1, 1}).flatten(1));
}

MobileNetV2 mobilenet_v2(int64_t num_classes) { return MobileNetV2(num_classes); }

}  // namespace hearth::vision::models
