#pragma once

#include <torch/torch.h>

namespace nn = torch::nn;

/// The tutorial's network for 28x28 images.
struct ConvNetImpl : nn::Module {
  explicit ConvNetImpl(int64_t num_classes = 10) : Module("ConvNet") {
    conv1 = register_module("conv1", conv3x3(/*in_channels=*/3, /*out_channels=*/32));
    relu1 = register_module("relu1", nn::ReLU());
    pool1 = register_module("pool1", nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));

    conv2 = register_module("conv2", conv3x3(/*in_channels=*/32, /*out_channels=*/64));
    relu2 = register_module("relu2", nn::ReLU());
    pool2 = register_module("pool2", nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));

    fc1 = register_module("fc1", nn::Linear(64 * 7 * 7, 128));
    relu3 = register_module("relu3", nn::ReLU());
    fc2 = register_module("fc2", nn::Linear(128, num_classes));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto out = conv1(x);
    out = relu1(out);
    out = pool1(out);

    out = conv2(out);
    out = relu2(out);
    out = pool2(out);

    out = out.view({out.size(0), -1});
    out = fc1(out);
    out = relu3(out);
    out = fc2(out);
    return out;
  }

  nn::Conv2d conv1 = nullptr, conv2 = nullptr;
  nn::ReLU relu1 = nullptr, relu2 = nullptr, relu3 = nullptr;
  nn::MaxPool2d pool1 = nullptr, pool2 = nullptr;
  nn::Linear fc1 = nullptr, fc2 = nullptr;

 private:
  static nn::Conv2d conv3x3(int64_t in_channels, int64_t out_channels) {
    return nn::Conv2d(nn::Conv2dOptions(in_channels, out_channels, /*kernel_size=*/3).padding(1));
  }
};
TORCH_MODULE(ConvNet);
