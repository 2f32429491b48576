#include "parallel_model.h"

namespace hearth::app {

namespace {

nn::parallel::DistributedDataParallelOptions options_on(Device device) {
  nn::parallel::DistributedDataParallelOptions options;
  options.gradient_as_bucket_view(true);
  if (device.is_cuda()) options.device_ids(std::vector<Device>{device});
  return options;
}

}  // namespace

ParallelModel::ParallelModel(const nn::AnyModule& model, Device device)
    : DistributedDataParallelImpl(std::make_shared<ModelOfTensor>(model), options_on(device)) {}

}  // namespace hearth::app
