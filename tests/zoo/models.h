// The small networks of tests/oracle/zoo.py, for tests/zoo and tests/oracle/weights_round_trip.cpp.
#pragma once

#include "examples/models/bert.h"
#include "examples/models/gpt2.h"
#include "hearth/vision/models.h"

namespace hearth::testing {

inline models::GPT2Options small_gpt2() {
  return {.vocab_size = 20, .n_positions = 12, .n_embd = 16, .n_layer = 2, .n_head = 2};
}
inline models::BertOptions small_bert() {
  return {.vocab_size = 20,
          .hidden_size = 16,
          .num_hidden_layers = 2,
          .num_attention_heads = 2,
          .intermediate_size = 24,
          .max_position_embeddings = 12};
}

/// The script's token ids.
inline Tensor ids() { return arange(2 * 7).mul(5).remainder(20).view({2, 7}); }

/// Calls f(name, module, run) for each vision model of the script; run() returns the output for the
/// script's image.
template <class F>
void for_each_vision_model(const F& f) {
  using namespace hearth::vision::models;
  const Tensor image = arange(3 * 64 * 64).mul(0.11).sin().view({1, 3, 64, 64});
  const auto call = [&](const char* name, auto model) {
    f(name, *model, [&] { return model->forward(image); });
  };
  call("resnet_basic", ResNet(ResNetOptions({1, 2, 1, 1}).num_classes(5)));
  call("resnet_bottleneck", ResNet(ResNetOptions({1, 1, 2, 1})
                                       .bottleneck(true)
                                       .num_classes(5)
                                       .groups(2)
                                       .width_per_group(32)));
  call("vgg", VGG(VGGOptions({4, 0, 8, 0}).num_classes(5)));
  call("vgg_bn", VGG(VGGOptions({4, 0, 8, 0}).batch_norm(true).num_classes(5)));
  call("alexnet", AlexNet(5));
  call("mobilenet_v2", MobileNetV2(5, 0.25));
  call("vit",
       VisionTransformer(
           VisionTransformerOptions(64, 16, 2, 2, 8, 12).num_classes(5).representation_size(6)));
}

/// Calls f(name, module, run) for each language model of the script; run() returns the output for
/// the script's token ids.
template <class F>
void for_each_language_model(const F& f) {
  models::GPT2 gpt2(small_gpt2());
  f("gpt2", *gpt2, [&] { return gpt2(ids()); });
  models::BertModel bert(small_bert());
  f("bert", *bert, [&] {
    Tensor mask = ones({2, 7}, kLong);
    mask[1].slice(0, 4).zero_();
    const Tensor types = arange(7).ge(3).to(kLong).expand({2, 7});
    const models::BertResult result = bert(ids(), mask, types);
    return cat({result.last_hidden_state.flatten(), result.pooler_output.flatten()});
  });
}

}  // namespace hearth::testing
