// BERT's encoder with the names of parameters that Hugging Face's BertModel has, so that published
// weights load by name.
#pragma once

#include "transformer_parts.h"

namespace models {

struct BertOptions {
  int64_t vocab_size = 30522, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12,
          intermediate_size = 3072, max_position_embeddings = 512, type_vocab_size = 2;
  double dropout = 0.1, layer_norm_eps = 1e-12;

  nn::LayerNorm norm() const {
    return nn::LayerNorm(nn::LayerNormOptions({hidden_size}).eps(layer_norm_eps));
  }
};

struct BertEmbeddingsImpl : nn::Module {
  explicit BertEmbeddingsImpl(const BertOptions& options)
      : word_embeddings(register_module(
            "word_embeddings",
            nn::Embedding(
                nn::EmbeddingOptions(options.vocab_size, options.hidden_size).padding_idx(0)))),
        position_embeddings(
            register_module("position_embeddings",
                            nn::Embedding(options.max_position_embeddings, options.hidden_size))),
        token_type_embeddings(register_module(
            "token_type_embeddings", nn::Embedding(options.type_vocab_size, options.hidden_size))),
        norm(register_module("LayerNorm", options.norm())),
        dropout(register_module("dropout", nn::Dropout(options.dropout))) {}

  Tensor forward(const Tensor& ids, const Tensor& token_types) {
    const Tensor types = token_types.defined() ? token_types : zeros_like(ids);
    const Tensor positions = arange(ids.size(1), ids.options());
    return dropout(
        norm(word_embeddings(ids) + token_type_embeddings(types) + position_embeddings(positions)));
  }

  nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm norm;
  nn::Dropout dropout;
};
HEARTH_MODULE(BertEmbeddings);

struct BertSelfAttentionImpl : nn::Module {
  explicit BertSelfAttentionImpl(const BertOptions& options)
      : heads(options.num_attention_heads),
        dropout(options.dropout),
        query(register_module("query", nn::Linear(options.hidden_size, options.hidden_size))),
        key(register_module("key", nn::Linear(options.hidden_size, options.hidden_size))),
        value(register_module("value", nn::Linear(options.hidden_size, options.hidden_size))) {}

  Tensor forward(const Tensor& x, const Tensor& mask) {
    const auto project = [&](nn::Linear& layer) { return split_heads(layer(x), heads); };
    return merge_heads(scaled_dot_product_attention(project(query), project(key), project(value),
                                                    mask, is_training() ? dropout : 0));
  }

  int64_t heads;
  double dropout;
  nn::Linear query, key, value;
};
HEARTH_MODULE(BertSelfAttention);

/// A linear layer, added to the block's input and normalised.
struct BertOutputImpl : nn::Module {
  BertOutputImpl(int64_t in, const BertOptions& options)
      : dense(register_module("dense", nn::Linear(in, options.hidden_size))),
        norm(register_module("LayerNorm", options.norm())),
        dropout(register_module("dropout", nn::Dropout(options.dropout))) {}
  Tensor forward(const Tensor& x, const Tensor& input) { return norm(dropout(dense(x)) + input); }

  nn::Linear dense;
  nn::LayerNorm norm;
  nn::Dropout dropout;
};
HEARTH_MODULE(BertOutput);

/// Self-attention and its output layer, in one module as in the published names.
struct BertAttentionImpl : nn::Module {
  explicit BertAttentionImpl(const BertOptions& options)
      : self(register_module("self", BertSelfAttention(options))),
        output(register_module("output", BertOutput(options.hidden_size, options))) {}
  Tensor forward(const Tensor& x, const Tensor& mask) { return output(self(x, mask), x); }

  BertSelfAttention self;
  BertOutput output;
};
HEARTH_MODULE(BertAttention);

struct BertIntermediateImpl : nn::Module {
  explicit BertIntermediateImpl(const BertOptions& options)
      : dense(
            register_module("dense", nn::Linear(options.hidden_size, options.intermediate_size))) {}
  Tensor forward(const Tensor& x) { return gelu(dense(x)); }

  nn::Linear dense;
};
HEARTH_MODULE(BertIntermediate);

struct BertLayerImpl : nn::Module {
  explicit BertLayerImpl(const BertOptions& options)
      : attention(register_module("attention", BertAttention(options))),
        intermediate(register_module("intermediate", BertIntermediate(options))),
        output(register_module("output", BertOutput(options.intermediate_size, options))) {}
  Tensor forward(const Tensor& x, const Tensor& mask) {
    const Tensor attended = attention(x, mask);
    return output(intermediate(attended), attended);
  }

  BertAttention attention;
  BertIntermediate intermediate;
  BertOutput output;
};
HEARTH_MODULE(BertLayer);

struct BertEncoderImpl : nn::Module {
  explicit BertEncoderImpl(const BertOptions& options)
      : layer(register_module("layer", nn::ModuleList())) {
    for (int64_t i = 0; i < options.num_hidden_layers; ++i) layer->push_back(BertLayer(options));
  }
  Tensor forward(Tensor x, const Tensor& mask) {
    for (const auto& module : *layer) x = module->as<BertLayer>()->forward(x, mask);
    return x;
  }

  nn::ModuleList layer;
};
HEARTH_MODULE(BertEncoder);

/// The outputs for a batch of sequences.
struct BertResult {
  Tensor last_hidden_state;  ///< [N, L, hidden_size]
  Tensor pooler_output;      ///< [N, hidden_size], of the first token
};

struct BertPoolerImpl : nn::Module {
  explicit BertPoolerImpl(const BertOptions& options)
      : dense(register_module("dense", nn::Linear(options.hidden_size, options.hidden_size))) {}
  Tensor forward(const Tensor& x) { return tanh(dense(x.select(1, 0))); }

  nn::Linear dense;
};
HEARTH_MODULE(BertPooler);

/// The state dict with the names of BertModel. The prefix "bert." of networks with a head is
/// removed, and the gamma and beta of old files become weight and bias. The heads of pretraining
/// ("cls.") and position_ids, which is no parameter, are left out.
inline State renamed_bert(const State& state) {
  return renamed(state, [](std::string name) -> std::string {
    const auto replace = [&](std::string_view end, const char* other) {
      if (name.ends_with(end)) name.replace(name.size() - end.size(), end.size(), other);
    };
    if (name.starts_with("cls.") || name.ends_with("position_ids")) return "";
    if (name.starts_with("bert.")) name.erase(0, 5);
    replace("LayerNorm.gamma", "LayerNorm.weight");
    replace("LayerNorm.beta", "LayerNorm.bias");
    return name;
  });
}

struct BertModelImpl : nn::Module {
  explicit BertModelImpl(const BertOptions& options_ = {})
      : options(options_),
        embeddings(register_module("embeddings", BertEmbeddings(options_))),
        encoder(register_module("encoder", BertEncoder(options_))),
        pooler(register_module("pooler", BertPooler(options_))) {
    init_parameters(*this);
    nn::init::zeros_(embeddings->word_embeddings->weight.detach()[0]);  // padding
    register_load_state_dict_pre_hook([](nn::Module&, State& state, const std::string& path) {
      if (path.empty()) state = renamed_bert(state);
    });
  }

  /// All arguments are [N, L]. attention_mask is 0 for padding; without it there is no padding.
  /// Without token_types, all types are 0.
  BertResult forward(const Tensor& ids, const Tensor& attention_mask = {},
                     const Tensor& token_types = {}) {
    check_tokens(ids, options.max_position_embeddings);
    Tensor mask;  // [N, 1, 1, L]: false for keys that are padding
    if (attention_mask.defined()) mask = attention_mask.ne(0).unsqueeze(1).unsqueeze(1);
    const Tensor hidden = encoder(embeddings(ids, token_types), mask);
    return {hidden, pooler(hidden)};
  }

  BertOptions options;
  BertEmbeddings embeddings;
  BertEncoder encoder;
  BertPooler pooler;
};
HEARTH_MODULE(BertModel);

/// Reads a network from a folder with Hugging Face's safetensors files. The number of heads is not
/// in them: it follows from `head_width`, the features of a head, which are 64 in Google's BERTs.
inline BertModel load_bert(const std::string& folder, int64_t head_width = 64) {
  const State state = renamed_bert(load_state(folder));
  const auto rows = [&](const char* part) {
    return state[std::string("embeddings.") + part + "_embeddings.weight"].size(0);
  };
  BertOptions options{.vocab_size = rows("word"),
                      .hidden_size = state["embeddings.LayerNorm.weight"].numel(),
                      .num_hidden_layers = 0,
                      .max_position_embeddings = rows("position"),
                      .type_vocab_size = rows("token_type")};
  options.num_attention_heads = options.hidden_size / head_width;
  options.intermediate_size = state["encoder.layer.0.intermediate.dense.bias"].numel();
  options.num_hidden_layers = count_layers(state, "encoder.layer.", ".output.dense.bias");
  BertModel model(options);
  model->load_state_dict(state);
  model->eval();
  return model;
}

}  // namespace models
