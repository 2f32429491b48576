#pragma once

#include <torch/torch.h>

/// The tutorial's network for 28x28 images: two convolutions and three linear layers.
struct NetworkImpl : torch::nn::Module {
  NetworkImpl() : Module("Network") {}

  torch::Tensor forward(torch::Tensor t) {
    t = torch::max_pool2d(torch::relu(conv1(t)), /*kernel_size=*/2, /*stride=*/2);
    t = torch::max_pool2d(torch::relu(conv2(t)), /*kernel_size=*/2, /*stride=*/2);
    t = torch::relu(fc1(t.flatten(/*start_dim=*/1)));
    t = torch::relu(fc2(t));
    return out(t);
  }

  torch::nn::Conv2d conv1 = register_module("conv1", conv2d(1, 6));
  torch::nn::Conv2d conv2 = register_module("conv2", conv2d(6, 12));
  torch::nn::Linear fc1 = register_module("fc1", torch::nn::Linear(12 * 4 * 4, 120));
  torch::nn::Linear fc2 = register_module("fc2", torch::nn::Linear(120, 60));
  torch::nn::Linear out = register_module("out", torch::nn::Linear(60, 10));

 private:
  static torch::nn::Conv2d conv2d(int64_t in_channels, int64_t out_channels) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in_channels, out_channels, /*kernel_size=*/5));
  }
};
TORCH_MODULE(Network);
