// Reads the zoo's weights that Python saved, computes with them and saves them again; compiled and
// called by crossing.py. Argument: the folder.
#include <functional>
#include <iostream>

#include "examples/models/bert.h"
#include "examples/models/gpt2.h"
#include "hearth/vision/models.h"

namespace {

using namespace hearth;
using namespace hearth::vision::models;

std::string folder;

/// Loads each of the two files, runs the model, and writes its state in the same format.
void cross(const std::string& name, nn::Module& model, const std::function<Tensor()>& run) {
  const NoGradGuard no_grad;
  model.eval();
  for (const std::string format : {".pt", ".safetensors"}) {
    const std::string path = folder + "/" + name, out = path + "_back" + format;
    for (const Tensor& parameter : model.parameters()) nn::init::zeros_(parameter);
    model.load_state_dict(io::load_tensors(path + format));
    io::save_tensors(io::named_tensors(model.state_dict()), out);
    io::save_npy(run(), out + ".npy");
  }
  std::cout << name << '\n';
}

template <class Model>
void cross_vision(const std::string& name, Model model) {
  const Tensor image = arange(3 * 64 * 64).mul(0.11).sin().view({1, 3, 64, 64});
  cross(name, *model, [&] { return model->forward(image); });
}

void cross_language() {
  const Tensor ids = arange(2 * 7).mul(5).remainder(20).view({2, 7});
  models::GPT2 gpt2(models::GPT2Options{
      .vocab_size = 20, .n_positions = 12, .n_embd = 16, .n_layer = 2, .n_head = 2});
  cross("gpt2", *gpt2, [&] { return gpt2(ids); });
  models::BertModel bert(models::BertOptions{.vocab_size = 20,
                                             .hidden_size = 16,
                                             .num_hidden_layers = 2,
                                             .num_attention_heads = 2,
                                             .intermediate_size = 24,
                                             .max_position_embeddings = 12});
  cross("bert", *bert, [&] {
    Tensor mask = ones({2, 7}, kLong);
    mask[1].slice(0, 4).zero_();
    const auto result = bert(ids, mask, arange(7).ge(3).to(kLong).expand({2, 7}));
    return cat({result.last_hidden_state.flatten(), result.pooler_output.flatten()});
  });
}

}  // namespace

int main(int, char** argv) {
  folder = argv[1];
  cross_vision("resnet_basic", ResNet(ResNetOptions({1, 2, 1, 1}).num_classes(5)));
  cross_vision("resnet_bottleneck", ResNet(ResNetOptions({1, 1, 2, 1})
                                               .bottleneck(true)
                                               .num_classes(5)
                                               .groups(2)
                                               .width_per_group(32)));
  cross_vision("vgg", VGG(VGGOptions({4, 0, 8, 0}).num_classes(5)));
  cross_vision("vgg_bn", VGG(VGGOptions({4, 0, 8, 0}).batch_norm(true).num_classes(5)));
  cross_vision("alexnet", AlexNet(5));
  cross_vision("mobilenet_v2", MobileNetV2(5, 0.25));
  cross_vision(
      "vit",
      VisionTransformer(
          VisionTransformerOptions(64, 16, 2, 2, 8, 12).num_classes(5).representation_size(6)));
  cross_language();
}
