#pragma once

#include <cstdint>
#include <tuple>

#include "hearth/arg.h"
#include "hearth/nn/any.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/linear.h"

namespace hearth::nn {

/// Options of MultiheadAttention.
struct HEARTH_API MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  HEARTH_ARG(int64_t, embed_dim);           ///< features of queries and outputs
  HEARTH_ARG(int64_t, num_heads);           ///< must divide embed_dim
  HEARTH_ARG(double, dropout) = 0.0;        ///< probability of dropout of attention weights
  HEARTH_ARG(bool, bias) = true;            ///< whether the projections have a bias
  HEARTH_ARG(bool, add_bias_kv) = false;    ///< whether a learned key and value are appended
  HEARTH_ARG(bool, add_zero_attn) = false;  ///< whether a key and value of zeros are appended
  HEARTH_ARG(int64_t, kdim);                ///< features of keys (default: embed_dim)
  HEARTH_ARG(int64_t, vdim);                ///< features of values (default: embed_dim)
  HEARTH_ARG(bool, batch_first) = false;    ///< tensors are [N, L, E] instead of [L, N, E]
};

/// Attention with several heads: queries, keys and values are projected to embed_dim features, each
/// head attends with embed_dim / num_heads of them (scaled_dot_product_attention), and out_proj
/// mixes the heads.
class HEARTH_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads);
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);
  /// query is [L, N, E], key and value are [S, N, …], or all without N. key_padding_mask is [N, S],
  /// attn_mask [L, S] or [N * num_heads, L, S]: a bool mask is true where a key is ignored, a
  /// floating-point mask is added to the scores. Returns the output and, if need_weights, the
  /// attention weights [N, L, S], averaged over heads, or [N, num_heads, L, S]. Without
  /// need_weights, masks and dropout, memory does not grow with L * S.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true);
  void reset() override;
  void _reset_parameters();  ///< draws new initial values

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;  ///< whether in_proj_weight holds all three projections
  Tensor in_proj_weight;            ///< [3 * embed_dim, embed_dim], or undefined
  Tensor in_proj_bias;              ///< [3 * embed_dim], or undefined
  Tensor bias_k, bias_v;            ///< [1, 1, embed_dim], or undefined
  Linear out_proj = nullptr;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  ///< if kdim or vdim is not embed_dim
  int64_t head_dim = 0;                                ///< embed_dim / num_heads

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};
HEARTH_MODULE(MultiheadAttention);

namespace functional {

/// Options of multi_head_attention_forward, as in MultiheadAttentionOptions and its forward().
struct HEARTH_API MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias);
  HEARTH_ARG(int64_t, embed_dim_to_check);             ///< features of queries and outputs
  HEARTH_ARG(int64_t, num_heads);                      ///< must divide the features
  HEARTH_ARG(Tensor, in_proj_weight);                  ///< [3 * features, features]
  HEARTH_ARG(Tensor, in_proj_bias);                    ///< [3 * features], or undefined
  HEARTH_ARG(Tensor, bias_k);                          ///< an appended key, or undefined
  HEARTH_ARG(Tensor, bias_v);                          ///< an appended value, or undefined
  HEARTH_ARG(bool, add_zero_attn);                     ///< whether zeros are appended
  HEARTH_ARG(double, dropout_p);                       ///< dropout of attention weights
  HEARTH_ARG(Tensor, out_proj_weight);                 ///< [features, features]
  HEARTH_ARG(Tensor, out_proj_bias);                   ///< [features], or undefined
  HEARTH_ARG(bool, training) = true;                   ///< whether dropout is applied
  HEARTH_ARG(Tensor, key_padding_mask);                ///< [N, S], or undefined
  HEARTH_ARG(bool, need_weights) = true;               ///< whether attention weights are returned
  HEARTH_ARG(Tensor, attn_mask);                       ///< [L, S] or [N * num_heads, L, S]
  HEARTH_ARG(bool, use_separate_proj_weight) = false;  ///< the next three replace in_proj_weight
  HEARTH_ARG(Tensor, q_proj_weight);                   ///< [features, features]
  HEARTH_ARG(Tensor, k_proj_weight);                   ///< [features, features of keys]
  HEARTH_ARG(Tensor, v_proj_weight);                   ///< [features, features of values]
  HEARTH_ARG(Tensor, static_k);                        ///< projected keys, [N * num_heads, S, …]
  HEARTH_ARG(Tensor, static_v);                   ///< projected values, [N * num_heads, S, …]
  HEARTH_ARG(bool, average_attn_weights) = true;  ///< whether weights are a mean over heads
  HEARTH_ARG(bool, batch_first) = false;          ///< tensors are [N, L, E]
};
/// MultiheadAttention with the weights of the options.
HEARTH_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);
using hearth::scaled_dot_product_attention;

}  // namespace functional

}  // namespace hearth::nn
