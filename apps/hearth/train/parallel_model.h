#pragma once

#include <memory>

#include "hearth/nn.h"
#include "hearth/nn/distributed_data_parallel.h"

namespace hearth::app {

/// Any model from a tensor to a tensor, as a class with the forward() that DistributedDataParallel
/// needs.
class ModelOfTensor : public nn::Module {
 public:
  explicit ModelOfTensor(const nn::AnyModule& model) : model_(model) {
    register_module("model", model.ptr());
  }
  Tensor forward(const Tensor& inputs) { return model_.forward(inputs); }

 private:
  nn::AnyModule model_;
};

/// A model whose gradients are averaged over all processes.
class ParallelModel : public nn::parallel::DistributedDataParallelImpl<ModelOfTensor> {
 public:
  ParallelModel(const nn::AnyModule& model, Device device);
  Tensor forward(const Tensor& inputs) { return DistributedDataParallelImpl::forward(inputs); }
};

}  // namespace hearth::app
