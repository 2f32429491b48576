#pragma once

#include <torch/torch.h>

#include <string>

using Clothes = torch::data::datasets::FashionMNIST;

/// Gray images with their value in all three channels, which ConvNet expects.
inline torch::Tensor in_three_channels(const torch::Tensor& images) {
  return images.expand({-1, 3, -1, -1});
}
