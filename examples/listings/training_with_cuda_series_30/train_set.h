#pragma once

#include <hearth/experiment.h>
#include <torch/torch.h>

#include <string>

using torch::experiment::Params;
using torch::experiment::Run;
using torch::experiment::RunBuilder;
using torch::experiment::RunManager;
using torch::experiment::Values;

/// The Fashion-MNIST dataset; batches are tensors of images and labels.
inline auto load_train_set(const std::string& folder) {
  return torch::data::datasets::FashionMNIST(folder).map(torch::data::transforms::Stack<>());
}

template <class TrainSet>
auto make_loader(const TrainSet& train_set, const Run& run) {
  const auto options = torch::data::DataLoaderOptions()
                           .batch_size(run.get<size_t>("batch_size"))
                           .workers(run.get<size_t>("num_workers"));
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(train_set,
                                                                                 options);
}
