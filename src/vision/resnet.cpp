#include "hearth/operators.h"
#include "hearth/vision/models.h"

namespace hearth::vision::models {

namespace {

using namespace nn;

Conv2d conv3x3(int64_t in, int64_t out, int64_t stride, int64_t groups = 1) {
  return Conv2d(Conv2dOptions(in, out, 3).stride(stride).padding(1).groups(groups).bias(false));
}
Conv2d conv1x1(int64_t in, int64_t out, int64_t stride = 1) {
  return Conv2d(Conv2dOptions(in, out, 1).stride(stride).bias(false));
}

/// `planes`: the basic number of channels; `width`: the channels of each group if planes is 64.
struct BlockOptions {
  int64_t in, planes, stride, width, groups;
};

/// Returns the projection of a block's input if the output has other sizes, else an empty module.
Sequential projection(const BlockOptions& o, int64_t out) {
  if (o.stride == 1 && o.in == out) return nullptr;
  return Sequential(conv1x1(o.in, out, o.stride), BatchNorm2d(out));
}

Tensor shortcut(Sequential& downsample, const Tensor& x) {
  return downsample.is_empty() ? x : downsample->forward(x);
}

struct BasicBlockImpl : Cloneable<BasicBlockImpl> {
  static constexpr int64_t kExpansion = 1;
  explicit BasicBlockImpl(BlockOptions options_) : options(std::move(options_)) {
    BasicBlockImpl::reset();
  }
  void reset() override {
    const int64_t planes = options.planes;
    conv1 = register_module("conv1", conv3x3(options.in, planes, options.stride));
    bn1 = register_module("bn1", BatchNorm2d(planes));
    conv2 = register_module("conv2", conv3x3(planes, planes, 1));
    bn2 = register_module("bn2", BatchNorm2d(planes));
    downsample = projection(options, planes);
    if (downsample) register_module("downsample", downsample);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = bn2(conv2(bn1(conv1(x)).relu_()));
    return (y + shortcut(downsample, x)).relu_();
  }
  Tensor& last_norm_weight() { return bn2->weight; }

  BlockOptions options;
  Conv2d conv1 = nullptr, conv2 = nullptr;
  BatchNorm2d bn1 = nullptr, bn2 = nullptr;
  Sequential downsample = nullptr;
};

struct BottleneckImpl : Cloneable<BottleneckImpl> {
  static constexpr int64_t kExpansion = 4;
  explicit BottleneckImpl(BlockOptions options_) : options(std::move(options_)) {
    BottleneckImpl::reset();
  }
  void reset() override {
    const int64_t width = options.planes * options.width / 64 * options.groups,
                  out = options.planes * kExpansion;
    conv1 = register_module("conv1", conv1x1(options.in, width));
    bn1 = register_module("bn1", BatchNorm2d(width));
    conv2 = register_module("conv2", conv3x3(width, width, options.stride, options.groups));
    bn2 = register_module("bn2", BatchNorm2d(width));
    conv3 = register_module("conv3", conv1x1(width, out));
    bn3 = register_module("bn3", BatchNorm2d(out));
    downsample = projection(options, out);
    if (downsample) register_module("downsample", downsample);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = bn3(conv3(bn2(conv2(bn1(conv1(x)).relu_())).relu_()));
    return (y + shortcut(downsample, x)).relu_();
  }
  Tensor& last_norm_weight() { return bn3->weight; }

  BlockOptions options;
  Conv2d conv1 = nullptr, conv2 = nullptr, conv3 = nullptr;
  BatchNorm2d bn1 = nullptr, bn2 = nullptr, bn3 = nullptr;
  Sequential downsample = nullptr;
};

/// Returns a layer of blocks, the first with the stride. `in` becomes the layer's number of output
/// channels.
template <class Block>
Sequential layer_of(const ResNetOptions& o, int64_t& in, int64_t planes, int64_t blocks,
                    int64_t stride) {
  Sequential layer;
  const int64_t out = planes * Block::kExpansion;
  for (int64_t i = 0; i < blocks; ++i, in = out, stride = 1) {
    const BlockOptions options{in, planes, stride, o.width_per_group(), o.groups()};
    layer->push_back(std::make_shared<Block>(options));
  }
  return layer;
}

template <class Block>
void zero_last_norm_weights(const ResNetImpl& network) {
  for (const auto& module : network.modules(false))
    if (auto* block = module->as<Block>()) init::constant_(block->last_norm_weight(), 0);
}

}  // namespace

ResNetImpl::ResNetImpl(ResNetOptions options_) : options(std::move(options_)) {
  HEARTH_CHECK(options.layers().size() == 4, "ResNet: expected four layers, but got ",
               options.layers().size());
  HEARTH_CHECK(options.bottleneck() || (options.groups() == 1 && options.width_per_group() == 64),
               "BasicBlock only supports groups=1 and base_width=64");
  ResNetImpl::reset();
}

void ResNetImpl::reset() {
  conv1 =
      register_module("conv1", Conv2d(Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false)));
  bn1 = register_module("bn1", BatchNorm2d(64));
  int64_t in = 64, planes = 64;
  const auto layer = [&](const char* name, size_t i) {
    const int64_t stride = i == 0 ? 1 : 2, blocks = options.layers()[i];
    Sequential stage = options.bottleneck()
                           ? layer_of<BottleneckImpl>(options, in, planes, blocks, stride)
                           : layer_of<BasicBlockImpl>(options, in, planes, blocks, stride);
    planes *= 2;
    return register_module(name, std::move(stage));
  };
  layer1 = layer("layer1", 0);
  layer2 = layer("layer2", 1);
  layer3 = layer("layer3", 2);
  layer4 = layer("layer4", 3);
  fc = register_module("fc", Linear(in, options.num_classes()));
  for (const auto& module : modules(false))
    if (auto* conv = module->as<Conv2dImpl>())
      init::kaiming_normal_(conv->weight, 0, kFanOut, kReLU);
  if (!options.zero_init_residual()) return;
  zero_last_norm_weights<BasicBlockImpl>(*this);
  zero_last_norm_weights<BottleneckImpl>(*this);
}

Tensor ResNetImpl::forward(Tensor x) {
  x = max_pool2d(bn1(conv1(x)).relu_(), 3, 2, 1);
  x = layer4->forward(layer3->forward(layer2->forward(layer1->forward(x))));
  return fc(adaptive_avg_pool2d(x, {1, 1}).flatten(1));
}

ResNet resnet18(int64_t num_classes) {
  return ResNet(ResNetOptions({2, 2, 2, 2}).num_classes(num_classes));
}
ResNet resnet34(int64_t num_classes) {
  return ResNet(ResNetOptions({3, 4, 6, 3}).num_classes(num_classes));
}
ResNet resnet50(int64_t num_classes) {
  return ResNet(ResNetOptions({3, 4, 6, 3}).bottleneck(true).num_classes(num_classes));
}
ResNet resnet101(int64_t num_classes) {
  return ResNet(ResNetOptions({3, 4, 23, 3}).bottleneck(true).num_classes(num_classes));
}
ResNet resnet152(int64_t num_classes) {
  return ResNet(ResNetOptions({3, 8, 36, 3}).bottleneck(true).num_classes(num_classes));
}

}  // namespace hearth::vision::models
