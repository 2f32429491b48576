// GPT-2 with the names of parameters that Hugging Face's GPT2LMHeadModel has, so that published
// weights load by name: load_gpt2("folder with model.safetensors").
#pragma once

#include <utility>
#include <vector>

#include "transformer_parts.h"

namespace models {

struct GPT2Options {
  int64_t vocab_size = 50257, n_positions = 1024, n_embd = 768, n_layer = 12, n_head = 12;
  double dropout = 0.1, layer_norm_epsilon = 1e-5;
};

/// A linear layer whose weight is [in, out].
struct Conv1DImpl : nn::Module {
  Conv1DImpl(int64_t in, int64_t out)
      : weight(register_parameter("weight", empty({in, out}))),
        bias(register_parameter("bias", empty({out}))) {}
  Tensor forward(const Tensor& x) { return matmul(x, weight) + bias; }

  Tensor weight, bias;
};
HEARTH_MODULE(Conv1D);

/// The keys and values of the tokens that one layer has seen.
struct KeyValues {
  Tensor keys, values;

  /// Appends new keys and values, and replaces `k` and `v` by all of them.
  void append(Tensor& k, Tensor& v) {
    if (keys.defined()) {
      k = cat({keys, k}, 2);
      v = cat({values, v}, 2);
    }
    keys = k;
    values = v;
  }
};
/// The keys and values of all layers. A call with a cache receives only the new tokens.
using KeyValueCache = std::vector<KeyValues>;

struct GPT2AttentionImpl : nn::Module {
  explicit GPT2AttentionImpl(const GPT2Options& options)
      : heads(options.n_head),
        dropout(options.dropout),
        c_attn(register_module("c_attn", Conv1D(options.n_embd, 3 * options.n_embd))),
        c_proj(register_module("c_proj", Conv1D(options.n_embd, options.n_embd))) {}

  Tensor forward(const Tensor& x, KeyValues* past) {
    const std::vector<Tensor> parts = c_attn(x).chunk(3, 2);
    const Tensor q = split_heads(parts[0], heads);
    Tensor k = split_heads(parts[1], heads), v = split_heads(parts[2], heads);
    if (past) past->append(k, v);
    // A query sees the keys up to its own position; with a cache, queries are the last positions.
    const int64_t queries = q.size(2), seen = k.size(2);
    Tensor mask;
    if (queries > 1 && seen > queries)
      mask = ones({queries, seen}, x.options().dtype(kBool)).tril(seen - queries);
    return c_proj(merge_heads(scaled_dot_product_attention(
        q, k, v, mask, is_training() ? dropout : 0, /*is_causal=*/queries == seen)));
  }

  int64_t heads;
  double dropout;
  Conv1D c_attn, c_proj;
};
HEARTH_MODULE(GPT2Attention);

struct GPT2MLPImpl : nn::Module {
  explicit GPT2MLPImpl(const GPT2Options& options)
      : c_fc(register_module("c_fc", Conv1D(options.n_embd, 4 * options.n_embd))),
        c_proj(register_module("c_proj", Conv1D(4 * options.n_embd, options.n_embd))) {}
  Tensor forward(const Tensor& x) { return c_proj(gelu(c_fc(x), "tanh")); }

  Conv1D c_fc, c_proj;
};
HEARTH_MODULE(GPT2MLP);

struct GPT2BlockImpl : nn::Module {
  explicit GPT2BlockImpl(const GPT2Options& options)
      : ln_1(register_module("ln_1", norm(options))),
        attn(register_module("attn", GPT2Attention(options))),
        ln_2(register_module("ln_2", norm(options))),
        mlp(register_module("mlp", GPT2MLP(options))),
        drop(register_module("drop", nn::Dropout(options.dropout))) {}

  static nn::LayerNorm norm(const GPT2Options& options) {
    return nn::LayerNorm(nn::LayerNormOptions({options.n_embd}).eps(options.layer_norm_epsilon));
  }
  Tensor forward(const Tensor& x, KeyValues* past) {
    const Tensor attended = x + drop(attn(ln_1(x), past));
    return attended + drop(mlp(ln_2(attended)));
  }

  nn::LayerNorm ln_1;
  GPT2Attention attn;
  nn::LayerNorm ln_2;
  GPT2MLP mlp;
  nn::Dropout drop;
};
HEARTH_MODULE(GPT2Block);

/// The state dict with the names of GPT2. The prefix "transformer." is added where a file lacks it.
/// The output layer, whose weight is the embedding's, and masks, which are no parameters, are left
/// out.
inline State renamed_gpt2(const State& state) {
  return renamed(state, [](const std::string& name) -> std::string {
    if (name == "lm_head.weight" || name.ends_with(".attn.bias") ||
        name.ends_with(".attn.masked_bias"))
      return "";
    return name.starts_with("transformer.") ? name : "transformer." + name;
  });
}

/// The embeddings and blocks, under "transformer" in the network.
struct GPT2BodyImpl : nn::Module {
  explicit GPT2BodyImpl(const GPT2Options& options)
      : wte(register_module("wte", nn::Embedding(options.vocab_size, options.n_embd))),
        wpe(register_module("wpe", nn::Embedding(options.n_positions, options.n_embd))),
        drop(register_module("drop", nn::Dropout(options.dropout))),
        h(register_module("h", nn::ModuleList())),
        ln_f(register_module("ln_f", GPT2BlockImpl::norm(options))) {
    for (int64_t i = 0; i < options.n_layer; ++i) h->push_back(GPT2Block(options));
  }

  Tensor forward(const Tensor& ids, KeyValueCache* cache) {
    const int64_t seen = cache && !cache->empty() ? cache->front().keys.size(2) : 0;
    check_tokens(ids, wpe->options.num_embeddings(), seen);
    if (cache) cache->resize(h->size());
    const Tensor positions = arange(seen, seen + ids.size(1), ids.options());
    Tensor x = drop(wte(ids) + wpe(positions));
    for (size_t i = 0; i < h->size(); ++i)
      x = h[i]->as<GPT2Block>()->forward(x, cache ? &(*cache)[i] : nullptr);
    return ln_f(x);
  }

  nn::Embedding wte, wpe;
  nn::Dropout drop;
  nn::ModuleList h;
  nn::LayerNorm ln_f;
};
HEARTH_MODULE(GPT2Body);

/// Evaluation mode while the object lives; then each module has its former mode again.
class EvaluationMode {
 public:
  explicit EvaluationMode(nn::Module& model) : model_(model), was_training_(model.is_training()) {
    for (const auto& part : model.modules(/*include_self=*/false))
      former_.emplace_back(part, part->is_training());
    model.eval();
  }
  ~EvaluationMode() {
    model_.train(was_training_);
    for (const auto& [part, is_training] : former_) part->train(is_training);
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  nn::Module& model_;
  const bool was_training_;
  std::vector<std::pair<std::shared_ptr<nn::Module>, bool>> former_;
};

/// A decoder that predicts the next token.
struct GPT2Impl : nn::Module {
  explicit GPT2Impl(const GPT2Options& options_ = {})
      : options(options_), transformer(register_module("transformer", GPT2Body(options_))) {
    init_parameters(*this);
    // The more layers add to the residual stream, the smaller are their initial weights.
    const double std = 0.02 / std::sqrt(2.0 * double(options.n_layer));
    for (const auto& item : named_parameters())
      if (item.key().ends_with("c_proj.weight")) nn::init::normal_(item.value(), 0, std);
    register_load_state_dict_pre_hook([](nn::Module&, State& state, const std::string& path) {
      if (path.empty()) state = renamed_gpt2(state);
    });
  }

  /// Logits [N, L, vocab_size] of the token after each of the ids [N, L].
  Tensor forward(const Tensor& ids, KeyValueCache* cache = nullptr) {
    return linear(transformer(ids, cache), transformer->wte->weight);
  }

  /// Appends the likeliest token, `count` times; without dropout.
  Tensor generate(Tensor ids, int64_t count) {
    const NoGradGuard no_grad;
    const EvaluationMode evaluating(*this);
    KeyValueCache cache;
    Tensor next = ids;
    for (int64_t i = 0; i < count; ++i) {
      next = forward(next, &cache).select(1, -1).argmax(-1, /*keepdim=*/true);
      ids = cat({ids, next}, 1);
    }
    return ids;
  }

  GPT2Options options;
  GPT2Body transformer;
};
HEARTH_MODULE(GPT2);

/// Reads a network from a folder with Hugging Face's safetensors files. The number of heads is not
/// in them: it follows from `head_width`, the features of a head, which are 64 in OpenAI's GPT-2.
inline GPT2 load_gpt2(const std::string& folder, int64_t head_width = 64) {
  const State state = renamed_gpt2(load_state(folder));
  const Tensor &tokens = state["transformer.wte.weight"],
               &positions = state["transformer.wpe.weight"];
  const GPT2Options options{.vocab_size = tokens.size(0),
                            .n_positions = positions.size(0),
                            .n_embd = tokens.size(1),
                            .n_layer = count_layers(state, "transformer.h.", ".ln_1.weight"),
                            .n_head = tokens.size(1) / head_width};
  GPT2 model(options);
  model->load_state_dict(state);
  model->eval();
  return model;
}

}  // namespace models
