#pragma once

#include <vector>

#include "hearth/nn.h"

// Five families of torchvision.models, with the same layers, names of parameters and initial
// weights, so that state dicts published for torchvision load by name.
namespace hearth::vision::models {

/// Options of ResNet.
struct HEARTH_API ResNetOptions {
  /// The number of blocks in each of the four layers.
  ResNetOptions(std::vector<int64_t> layers) : layers_(std::move(layers)) {}
  HEARTH_ARG(std::vector<int64_t>, layers);      ///< blocks in each of the four layers
  HEARTH_ARG(bool, bottleneck) = false;          ///< whether blocks have three convolutions
  HEARTH_ARG(int64_t, num_classes) = 1000;       ///< outputs
  HEARTH_ARG(bool, zero_init_residual) = false;  ///< whether blocks begin as identities
  HEARTH_ARG(int64_t, groups) = 1;               ///< groups of the bottlenecks' 3 x 3 convolutions
  HEARTH_ARG(int64_t, width_per_group) = 64;     ///< channels of a group
};
/// Residual networks ("Deep Residual Learning for Image Recognition").
class HEARTH_API ResNetImpl : public nn::Cloneable<ResNetImpl> {
 public:
  explicit ResNetImpl(ResNetOptions options_);
  void reset() override;
  Tensor forward(Tensor x);

  ResNetOptions options;
  nn::Conv2d conv1 = nullptr;
  nn::BatchNorm2d bn1 = nullptr;
  nn::Sequential layer1 = nullptr, layer2 = nullptr, layer3 = nullptr, layer4 = nullptr;
  nn::Linear fc = nullptr;
};
HEARTH_MODULE(ResNet);
HEARTH_API ResNet resnet18(int64_t num_classes = 1000);
HEARTH_API ResNet resnet34(int64_t num_classes = 1000);
HEARTH_API ResNet resnet50(int64_t num_classes = 1000);
HEARTH_API ResNet resnet101(int64_t num_classes = 1000);
HEARTH_API ResNet resnet152(int64_t num_classes = 1000);

/// Options of VGG.
struct HEARTH_API VGGOptions {
  /// The channels of each convolution; 0 stands for max pooling.
  VGGOptions(std::vector<int64_t> features) : features_(std::move(features)) {}
  HEARTH_ARG(std::vector<int64_t>, features);  ///< channels of convolutions; 0: max pooling
  HEARTH_ARG(bool, batch_norm) = false;        ///< whether batch norm follows each convolution
  HEARTH_ARG(int64_t, num_classes) = 1000;     ///< outputs
  HEARTH_ARG(double, dropout) = 0.5;           ///< of the classifier
};
/// Plain stacks of 3 x 3 convolutions ("Very Deep Convolutional Networks").
class HEARTH_API VGGImpl : public nn::Cloneable<VGGImpl> {
 public:
  explicit VGGImpl(VGGOptions options_);
  void reset() override;
  Tensor forward(Tensor x);

  VGGOptions options;
  nn::Sequential features = nullptr, classifier = nullptr;
  nn::AdaptiveAvgPool2d avgpool = nullptr;
};
HEARTH_MODULE(VGG);
HEARTH_API VGG vgg11(int64_t num_classes = 1000);
HEARTH_API VGG vgg13(int64_t num_classes = 1000);
HEARTH_API VGG vgg16(int64_t num_classes = 1000);
HEARTH_API VGG vgg19(int64_t num_classes = 1000);
HEARTH_API VGG vgg16_bn(int64_t num_classes = 1000);

/// "One weird trick for parallelizing convolutional neural networks".
class HEARTH_API AlexNetImpl : public nn::Cloneable<AlexNetImpl> {
 public:
  explicit AlexNetImpl(int64_t num_classes_ = 1000, double dropout_ = 0.5);
  void reset() override;
  Tensor forward(Tensor x);

  int64_t num_classes;
  double dropout;
  nn::Sequential features = nullptr, classifier = nullptr;
  nn::AdaptiveAvgPool2d avgpool = nullptr;
};
HEARTH_MODULE(AlexNet);
HEARTH_API AlexNet alexnet(int64_t num_classes = 1000);

/// "MobileNetV2: Inverted Residuals and Linear Bottlenecks"; width_mult scales the channels, but
/// does not shrink the last layer.
class HEARTH_API MobileNetV2Impl : public nn::Cloneable<MobileNetV2Impl> {
 public:
  explicit MobileNetV2Impl(int64_t num_classes_ = 1000, double width_mult_ = 1,
                           double dropout_ = 0.2);
  void reset() override;
  Tensor forward(Tensor x);

  int64_t num_classes;
  double width_mult, dropout;
  nn::Sequential features = nullptr, classifier = nullptr;
};
HEARTH_MODULE(MobileNetV2);
HEARTH_API MobileNetV2 mobilenet_v2(int64_t num_classes = 1000);

/// Options of VisionTransformer.
struct HEARTH_API VisionTransformerOptions {
  VisionTransformerOptions(int64_t image_size, int64_t patch_size, int64_t num_layers,
                           int64_t num_heads, int64_t hidden_dim, int64_t mlp_dim);
  HEARTH_ARG(int64_t, image_size);               ///< height and width of images
  HEARTH_ARG(int64_t, patch_size);               ///< must divide image_size
  HEARTH_ARG(int64_t, num_layers);               ///< blocks of attention and MLP
  HEARTH_ARG(int64_t, num_heads);                ///< must divide hidden_dim
  HEARTH_ARG(int64_t, hidden_dim);               ///< features of a patch
  HEARTH_ARG(int64_t, mlp_dim);                  ///< features between an MLP's linear layers
  HEARTH_ARG(double, dropout) = 0;               ///< of the embedding, attention's results and MLPs
  HEARTH_ARG(double, attention_dropout) = 0;     ///< of attention weights
  HEARTH_ARG(int64_t, num_classes) = 1000;       ///< outputs
  HEARTH_ARG(int64_t, representation_size) = 0;  ///< of a layer before the last; 0: none
};
/// "An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale".
class HEARTH_API VisionTransformerImpl : public nn::Cloneable<VisionTransformerImpl> {
 public:
  explicit VisionTransformerImpl(VisionTransformerOptions options_);
  void reset() override;
  Tensor forward(Tensor x);

  VisionTransformerOptions options;
  nn::Conv2d conv_proj = nullptr;
  Tensor class_token;  ///< [1, 1, hidden_dim]
  nn::AnyModule encoder;
  nn::Sequential heads = nullptr;
};
HEARTH_MODULE(VisionTransformer);
HEARTH_API VisionTransformer vit_b_16(int64_t num_classes = 1000);
HEARTH_API VisionTransformer vit_b_32(int64_t num_classes = 1000);
HEARTH_API VisionTransformer vit_l_16(int64_t num_classes = 1000);

}  // namespace hearth::vision::models
