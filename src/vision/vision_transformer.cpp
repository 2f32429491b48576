#include <cmath>

#include "hearth/operators.h"
#include "hearth/vision/models.h"

namespace hearth::vision::models {

namespace {

using namespace nn;
using Options = VisionTransformerOptions;

LayerNorm norm_of(const Options& o) {
  return LayerNorm(LayerNormOptions({o.hidden_dim()}).eps(1e-6));
}

/// Published state dicts call the MLP's layers linear_1 and linear_2 instead of 0 and 3.
void rename_layers(Module&, OrderedDict<std::string, Tensor>& state, const std::string& path) {
  for (const auto& [from, to] : {std::pair{"linear_1", "0"}, std::pair{"linear_2", "3"}})
    for (const char* name : {".weight", ".bias"}) {
      const std::string old_key = path + "." + from + name;
      if (!state.contains(old_key)) continue;
      state.insert(path + "." + to + name, Tensor(state[old_key]));
      state.erase(old_key);
    }
}

Sequential mlp_of(const Options& o) {
  const auto dropout = [&] { return Dropout(DropoutOptions(o.dropout())); };
  Sequential mlp(Linear(o.hidden_dim(), o.mlp_dim()), GELU(), dropout(),
                 Linear(o.mlp_dim(), o.hidden_dim()), dropout());
  for (const auto& module : mlp->children())
    if (auto* linear = module->as<LinearImpl>()) {
      init::xavier_uniform_(linear->weight);
      init::normal_(linear->bias, 0, 1e-6);
    }
  mlp->register_load_state_dict_pre_hook(rename_layers);
  return mlp;
}

struct EncoderBlockImpl : Cloneable<EncoderBlockImpl> {
  explicit EncoderBlockImpl(Options options_) : options(std::move(options_)) {
    EncoderBlockImpl::reset();
  }
  void reset() override {
    ln_1 = register_module("ln_1", norm_of(options));
    self_attention = register_module(
        "self_attention",
        MultiheadAttention(MultiheadAttentionOptions(options.hidden_dim(), options.num_heads())
                               .dropout(options.attention_dropout())
                               .batch_first(true)));
    dropout = register_module("dropout", Dropout(DropoutOptions(options.dropout())));
    ln_2 = register_module("ln_2", norm_of(options));
    mlp = register_module("mlp", mlp_of(options));
  }
  Tensor forward(const Tensor& x) {
    const Tensor normed = ln_1(x);
    const auto attended =
        self_attention->forward(normed, normed, normed, {}, /*need_weights=*/false);
    const Tensor sum = dropout(std::get<0>(attended)) + x;
    return sum + mlp->forward(ln_2(sum));
  }

  Options options;
  LayerNorm ln_1 = nullptr, ln_2 = nullptr;
  MultiheadAttention self_attention = nullptr;
  Dropout dropout = nullptr;
  Sequential mlp = nullptr;
};

struct EncoderImpl : Cloneable<EncoderImpl> {
  explicit EncoderImpl(Options options_) : options(std::move(options_)) { EncoderImpl::reset(); }
  void reset() override {
    const int64_t patches_per_side = options.image_size() / options.patch_size();
    pos_embedding = register_parameter(
        "pos_embedding", empty({1, patches_per_side * patches_per_side + 1, options.hidden_dim()}));
    init::normal_(pos_embedding, 0, 0.02);
    dropout = register_module("dropout", Dropout(DropoutOptions(options.dropout())));
    layers = Sequential();
    for (int64_t i = 0; i < options.num_layers(); ++i)
      layers->push_back("encoder_layer_" + std::to_string(i),
                        std::make_shared<EncoderBlockImpl>(options));
    register_module("layers", layers);
    ln = register_module("ln", norm_of(options));
  }
  Tensor forward(const Tensor& x) { return ln(layers->forward(dropout(x + pos_embedding))); }

  Options options;
  Tensor pos_embedding;
  Dropout dropout = nullptr;
  Sequential layers = nullptr;
  LayerNorm ln = nullptr;
};

void init_truncated(const Tensor& weight, int64_t fan_in) {
  init::trunc_normal_(weight, 0, std::sqrt(1.0 / double(fan_in)));
}

Sequential heads_of(const Options& o) {
  Sequential heads;
  const int64_t size = o.representation_size();
  if (size > 0) {
    heads->push_back("pre_logits", Linear(o.hidden_dim(), size));
    heads->push_back("act", Tanh());
  }
  heads->push_back("head", Linear(size > 0 ? size : o.hidden_dim(), o.num_classes()));
  return heads;
}

void init_heads(const Sequential& heads, const Options& o) {
  if (o.representation_size() > 0) {
    const auto& layer = heads->at<LinearImpl>(0);
    init_truncated(layer.weight, o.hidden_dim());
    init::zeros_(layer.bias);
  }
  const auto& last = heads->at<LinearImpl>(heads->size() - 1);
  init::zeros_(last.weight);
  init::zeros_(last.bias);
}

VisionTransformer make_vit(int64_t patch, int64_t layers, int64_t heads, int64_t hidden,
                           int64_t classes) {
  return VisionTransformer(
      VisionTransformerOptions(224, patch, layers, heads, hidden, 4 * hidden).num_classes(classes));
}

}  // namespace

VisionTransformerOptions::VisionTransformerOptions(int64_t image_size, int64_t patch_size,
                                                   int64_t num_layers, int64_t num_heads,
                                                   int64_t hidden_dim, int64_t mlp_dim)
    : image_size_(image_size),
      patch_size_(patch_size),
      num_layers_(num_layers),
      num_heads_(num_heads),
      hidden_dim_(hidden_dim),
      mlp_dim_(mlp_dim) {}

VisionTransformerImpl::VisionTransformerImpl(VisionTransformerOptions options_)
    : options(std::move(options_)) {
  HEARTH_CHECK(options.patch_size() > 0 && options.image_size() >= options.patch_size() &&
                   options.image_size() % options.patch_size() == 0,
               "Input shape indivisible by patch size!");
  HEARTH_CHECK(options.num_layers() > 0, "VisionTransformer: expected at least one layer, but got ",
               options.num_layers());
  VisionTransformerImpl::reset();
}

void VisionTransformerImpl::reset() {
  const int64_t patch = options.patch_size(), hidden = options.hidden_dim();
  conv_proj = register_module("conv_proj", Conv2d(Conv2dOptions(3, hidden, patch).stride(patch)));
  class_token = register_parameter("class_token", zeros({1, 1, hidden}));
  encoder = AnyModule(std::make_shared<EncoderImpl>(options));
  register_module("encoder", encoder.ptr());
  heads = register_module("heads", heads_of(options));
  init_truncated(conv_proj->weight, 3 * patch * patch);
  init::zeros_(conv_proj->bias);
  init_heads(heads, options);
}

Tensor VisionTransformerImpl::forward(Tensor x) {
  HEARTH_CHECK(x.dim() == 4, "VisionTransformer: expected images [N, 3, H, W], but got ",
               x.sizes());
  const int64_t size = options.image_size();
  HEARTH_CHECK(x.size(2) == size, "Wrong image height! Expected ", size, " but got ", x.size(2),
               "!");
  HEARTH_CHECK(x.size(3) == size, "Wrong image width! Expected ", size, " but got ", x.size(3),
               "!");
  x = conv_proj(x).flatten(2).transpose(1, 2);
  x = cat({class_token.expand({x.size(0), -1, -1}), x}, 1);
  return heads->forward(encoder.forward(x).select(1, 0));
}

VisionTransformer vit_b_16(int64_t num_classes) { return make_vit(16, 12, 12, 768, num_classes); }
VisionTransformer vit_b_32(int64_t num_classes) { return make_vit(32, 12, 12, 768, num_classes); }
VisionTransformer vit_l_16(int64_t num_classes) { return make_vit(16, 24, 16, 1024, num_classes); }

}  // namespace hearth::vision::models
