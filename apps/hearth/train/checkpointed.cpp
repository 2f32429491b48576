#include "checkpointed.h"

#include <memory>
#include <utility>
#include <vector>

#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"

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

/// Calls visit(first, last) for each block of a Sequential. A block is one layer or, with
/// `ends_with_pooling`, the layers up to and including a max pooling.
template <class Visit>
void for_each_block(nn::SequentialImpl& layers, bool ends_with_pooling, const Visit& visit) {
  auto first = layers.begin();
  for (auto layer = layers.begin(); layer != layers.end(); ++layer) {
    if (ends_with_pooling && !layer->ptr()->as<nn::MaxPool2dImpl>()) continue;
    visit(first, layer + 1);
    first = layer + 1;
  }
}

// The Sequentials of a network that consist of blocks.
using Sequentials = std::vector<nn::SequentialImpl*>;
Sequentials sequentials_in(ResNetImpl& net) {
  return {net.layer1.get(), net.layer2.get(), net.layer3.get(), net.layer4.get()};
}
Sequentials sequentials_in(VGGImpl& net) { return {net.features.get()}; }
Sequentials sequentials_in(AlexNetImpl& net) { return {net.features.get()}; }
Sequentials sequentials_in(MobileNetV2Impl& net) { return {net.features.get()}; }
Sequentials sequentials_in(VisionTransformerImpl& net) {
  Sequentials found;
  for (const auto& module : net.encoder.ptr()->children())
    if (auto* layers = module->as<nn::SequentialImpl>()) found.push_back(layers);
  return found;
}

template <class... Nets>
Sequentials sequentials_of(nn::Module& model, Networks<Nets...>) {
  Sequentials found;
  const auto look = [&](auto* net) {
    if (net) found = sequentials_in(*net);
  };
  (look(model.as<Nets>()), ...);
  return found;
}

/// Lets the first element of a block call all layers of the block, and the others return their
/// input. The Sequential's submodules, and so the names of its parameters, stay the same.
void replace(nn::SequentialImpl::Iterator first, nn::SequentialImpl::Iterator last) {
  std::vector<nn::AnyModule> layers(first, last);
  *first = nn::AnyModule(std::make_shared<BlockImpl>(std::move(layers)));
  while (++first != last) *first = nn::AnyModule(nn::Identity());
}

}  // namespace

void checkpoint_blocks(nn::Module& model) {
  const bool ends_with_pooling = model.as<VGGImpl>() || model.as<AlexNetImpl>();
  for (nn::SequentialImpl* layers : sequentials_of(model, NetworksWithBlocks()))
    for_each_block(*layers, ends_with_pooling, replace);
}

}  // namespace hearth::app
