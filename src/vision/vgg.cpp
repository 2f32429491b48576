#include "hearth/operators.h"
#include "hearth/vision/models.h"

namespace hearth::vision::models {

namespace {

using namespace nn;

ReLU relu_in_place() { return ReLU(ReLUOptions(true)); }
Dropout dropout_of(double p) { return Dropout(DropoutOptions(p)); }
AdaptiveAvgPool2d pool_to(int64_t size) {
  return AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({size, size}));
}

/// The output channels of the convolutions; 0 stands for max pooling.
const std::vector<int64_t> kVgg11{64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0};
const std::vector<int64_t> kVgg13{64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0};
const std::vector<int64_t> kVgg16{64, 64,  0,   128, 128, 0,   256, 256, 256,
                                  0,  512, 512, 512, 0,   512, 512, 512, 0};
const std::vector<int64_t> kVgg19{64,  64,  0,   128, 128, 0,   256, 256, 256, 256, 0,
                                  512, 512, 512, 512, 0,   512, 512, 512, 512, 0};

}  // namespace

VGGImpl::VGGImpl(VGGOptions options_) : options(std::move(options_)) { VGGImpl::reset(); }

void VGGImpl::reset() {
  Sequential layers;
  int64_t in = 3;
  for (const int64_t out : options.features()) {
    if (out == 0) {
      layers->push_back(MaxPool2d(MaxPool2dOptions(2).stride(2)));
      continue;
    }
    layers->push_back(Conv2d(Conv2dOptions(in, out, 3).padding(1)));
    if (options.batch_norm()) layers->push_back(BatchNorm2d(out));
    layers->push_back(relu_in_place());
    in = out;
  }
  features = register_module("features", layers);
  avgpool = register_module("avgpool", pool_to(7));
  classifier = register_module(
      "classifier", Sequential{Linear(in * 7 * 7, 4096), relu_in_place(),
                               dropout_of(options.dropout()), Linear(4096, 4096), relu_in_place(),
                               dropout_of(options.dropout()), Linear(4096, options.num_classes())});
  for (const auto& module : modules(false)) {
    if (auto* conv = module->as<Conv2dImpl>()) {
      init::kaiming_normal_(conv->weight, 0, kFanOut, kReLU);
      init::constant_(conv->bias, 0);
    }
    if (auto* linear = module->as<LinearImpl>()) {
      init::normal_(linear->weight, 0, 0.01);
      init::constant_(linear->bias, 0);
    }
  }
}

Tensor VGGImpl::forward(Tensor x) {
  return classifier->forward(avgpool(features->forward(x)).flatten(1));
}

VGG vgg11(int64_t num_classes) { return VGG(VGGOptions(kVgg11).num_classes(num_classes)); }
VGG vgg13(int64_t num_classes) { return VGG(VGGOptions(kVgg13).num_classes(num_classes)); }
VGG vgg16(int64_t num_classes) { return VGG(VGGOptions(kVgg16).num_classes(num_classes)); }
VGG vgg19(int64_t num_classes) { return VGG(VGGOptions(kVgg19).num_classes(num_classes)); }
VGG vgg16_bn(int64_t num_classes) {
  return VGG(VGGOptions(kVgg16).batch_norm(true).num_classes(num_classes));
}

AlexNetImpl::AlexNetImpl(int64_t num_classes_, double dropout_)
    : num_classes(num_classes_), dropout(dropout_) {
  AlexNetImpl::reset();
}

// Random weights must be drawn in order, and a braced list evaluates its elements in order.
void AlexNetImpl::reset() {
  const auto conv = [](int64_t in, int64_t out, int64_t kernel, int64_t padding,
                       int64_t stride = 1) {
    return Conv2d(Conv2dOptions(in, out, kernel).stride(stride).padding(padding));
  };
  const auto pool = [] { return MaxPool2d(MaxPool2dOptions(3).stride(2)); };
  features = register_module(
      "features", Sequential{conv(3, 64, 11, 2, 4), relu_in_place(), pool(), conv(64, 192, 5, 2),
                             relu_in_place(), pool(), conv(192, 384, 3, 1), relu_in_place(),
                             conv(384, 256, 3, 1), relu_in_place(), conv(256, 256, 3, 1),
                             relu_in_place(), pool()});
  avgpool = register_module("avgpool", pool_to(6));
  classifier = register_module(
      "classifier", Sequential{dropout_of(dropout), Linear(256 * 6 * 6, 4096), relu_in_place(),
                               dropout_of(dropout), Linear(4096, 4096), relu_in_place(),
                               Linear(4096, num_classes)});
}

Tensor AlexNetImpl::forward(Tensor x) {
  return classifier->forward(avgpool(features->forward(x)).flatten(1));
}

AlexNet alexnet(int64_t num_classes) { return AlexNet(num_classes); }

}  // namespace hearth::vision::models
