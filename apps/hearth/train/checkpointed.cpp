#include "checkpointed.h"

#include <memory>
#include <utility>
#include <vector>

#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"
#include "hearth/vision/models.h"

namespace hearth::app {

namespace {

using vision::models::AlexNetImpl;
using vision::models::MobileNetV2Impl;
using vision::models::ResNetImpl;
using vision::models::VGGImpl;
using vision::models::VisionTransformerImpl;

/// Replaces the running statistics of batch norms by copies during its lifetime: the second call
/// of a block must not count its batch again.
class FrozenStatistics {
 public:
  explicit FrozenStatistics(std::vector<nn::AnyModule>& layers) {
    for (nn::AnyModule& layer : layers)
      for (const auto& module : layer.ptr()->modules())
        if (auto* norm = module->as<nn::BatchNorm2dImpl>())
          for (Tensor* tensor :
               {&norm->running_mean, &norm->running_var, &norm->num_batches_tracked}) {
            if (!tensor->defined()) continue;
            former_.emplace_back(tensor, *tensor);
            *tensor = tensor->clone();
          }
  }
  ~FrozenStatistics() {
    for (auto& [tensor, value] : former_) *tensor = value;
  }
  FrozenStatistics(const FrozenStatistics&) = delete;
  FrozenStatistics& operator=(const FrozenStatistics&) = delete;

 private:
  std::vector<std::pair<Tensor*, Tensor>> former_;
};

/// Successive layers of a Sequential that are recomputed together.
class BlockImpl : public nn::Module {
 public:
  explicit BlockImpl(std::vector<nn::AnyModule> layers) : layers_(std::move(layers)) {}

  Tensor forward(const Tensor& input) {
    const auto calls = std::make_shared<int>(0);
    return utils::checkpoint(
        [layers = layers_, calls](Tensor value) mutable {
          std::optional<FrozenStatistics> frozen;
          if ((*calls)++ > 0) frozen.emplace(layers);
          for (nn::AnyModule& layer : layers) value = layer.forward(value);
          return value;
        },
        input);
  }

 private:
  std::vector<nn::AnyModule> layers_;  // no submodules: they belong to the model
};

/// Calls visit(first, last) for each block of a Sequential: the layers up to a pooling in a chain
/// of simple layers, else each layer.
template <class Visit>
void for_each_block(nn::SequentialImpl& layers, bool ends_with_pooling, const Visit& visit) {
  auto first = layers.begin();
  for (auto layer = layers.begin(); layer != layers.end(); ++layer) {
    if (ends_with_pooling && !layer->ptr()->as<nn::MaxPool2dImpl>()) continue;
    visit(first, layer + 1);
    first = layer + 1;
  }
}

/// The Sequentials of the model that consist of blocks.
std::vector<nn::SequentialImpl*> sequentials_of(nn::Module& model) {
  std::vector<nn::SequentialImpl*> found;
  if (auto* resnet = model.as<ResNetImpl>())
    for (nn::Sequential* layer :
         {&resnet->layer1, &resnet->layer2, &resnet->layer3, &resnet->layer4})
      found.push_back(layer->get());
  if (auto* vgg = model.as<VGGImpl>()) found.push_back(vgg->features.get());
  if (auto* alexnet = model.as<AlexNetImpl>()) found.push_back(alexnet->features.get());
  if (auto* mobilenet = model.as<MobileNetV2Impl>()) found.push_back(mobilenet->features.get());
  if (auto* vit = model.as<VisionTransformerImpl>())
    for (const auto& module : vit->encoder.ptr()->children())
      if (auto* layers = module->as<nn::SequentialImpl>()) found.push_back(layers);
  return found;
}

/// Lets the first element of a Sequential call all layers of a block, and the others return their
/// input. The Sequential's submodules, and so the names of its parameters, stay the same.
void replace(nn::SequentialImpl::Iterator first, nn::SequentialImpl::Iterator last) {
  std::vector<nn::AnyModule> layers(first, last);
  *first = nn::AnyModule(std::make_shared<BlockImpl>(std::move(layers)));
  while (++first != last) *first = nn::AnyModule(nn::Identity());
}

}  // namespace

void checkpoint_blocks(nn::Module& model) {
  const bool ends_with_pooling = model.as<VGGImpl>() || model.as<AlexNetImpl>();
  for (nn::SequentialImpl* layers : sequentials_of(model))
    for_each_block(*layers, ends_with_pooling, replace);
}

}  // namespace hearth::app
