#pragma once

#include <torch/torch.h>

#include <string>

#include "runs.h"

/// The Fashion-MNIST dataset; batches are tensors of images and labels.
inline auto load_train_set(const std::string& folder) {
  return torch::data::datasets::FashionMNIST(folder).map(torch::data::transforms::Stack<>());
}

template <class TrainSet>
auto make_loader(const TrainSet& train_set, const Run& run) {
  const auto options = torch::data::DataLoaderOptions()
                           .batch_size(static_cast<size_t>(run.batch_size))
                           .workers(static_cast<size_t>(run.num_workers));
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(train_set,
                                                                                 options);
}
