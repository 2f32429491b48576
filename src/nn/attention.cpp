#include "hearth/nn/attention.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "hearth/nn/init.h"
#include "hearth/operators.h"

namespace hearth::nn {

namespace functional {

MultiheadAttentionForwardFuncOptions::MultiheadAttentionForwardFuncOptions(
    int64_t embed_dim_to_check, int64_t num_heads, Tensor in_proj_weight, Tensor in_proj_bias,
    Tensor bias_k, Tensor bias_v, bool add_zero_attn, double dropout_p, Tensor out_proj_weight,
    Tensor out_proj_bias)
    : embed_dim_to_check_(embed_dim_to_check),
      num_heads_(num_heads),
      in_proj_weight_(std::move(in_proj_weight)),
      in_proj_bias_(std::move(in_proj_bias)),
      bias_k_(std::move(bias_k)),
      bias_v_(std::move(bias_v)),
      add_zero_attn_(add_zero_attn),
      dropout_p_(dropout_p),
      out_proj_weight_(std::move(out_proj_weight)),
      out_proj_bias_(std::move(out_proj_bias)) {}

namespace {

using Options = MultiheadAttentionForwardFuncOptions;

/// Query, key and value: the arguments, their projections, or their heads
/// `[N, heads, length, E / heads]`, where E is embed_dim.
struct Projections {
  Tensor q, k, v;
};

void check_mask_type(const Tensor& mask, const char* name) {
  HEARTH_CHECK(!mask.defined() || mask.scalar_type() == kBool || mask.is_floating_point(),
               "only bool and floating types of ", name, " are supported, but got ",
               name_of(mask.scalar_type()));
}

/// Whether a learned key and value are appended.
bool appends_bias(const Options& options) { return options.bias_k().defined(); }

void check_inputs(const Projections& in, const Options& options) {
  const int64_t width = options.embed_dim_to_check(), heads = options.num_heads();
  HEARTH_CHECK(in.q.dim() == 3 && in.k.dim() == 3 && in.v.dim() == 3,
               "query should be unbatched 2D or batched 3D tensor but received ", in.q.dim(),
               "-D query tensor, ", in.k.dim(), "-D key and ", in.v.dim(), "-D value");
  HEARTH_CHECK(in.q.size(2) == width, "was expecting embedding dimension of ", width, ", but got ",
               in.q.size(2));
  HEARTH_CHECK(heads > 0 && width % heads == 0, "embed_dim must be divisible by num_heads");
  const bool has_separate_weights = options.use_separate_proj_weight();
  for (int64_t d = 0; d < (has_separate_weights ? 2 : 3); ++d)
    HEARTH_CHECK(in.k.size(d) == in.v.size(d), "key shape ", in.k.sizes(),
                 " does not match value shape ", in.v.sizes());
  const int64_t batch = options.batch_first() ? 0 : 1;
  HEARTH_CHECK(in.q.size(batch) == in.k.size(batch), "query shape ", in.q.sizes(),
               " and key shape ", in.k.sizes(), " have different batch sizes");
  HEARTH_CHECK(options.bias_k().defined() == options.bias_v().defined(),
               "bias_k and bias_v must both be defined or both be undefined");
  check_mask_type(options.attn_mask(), "attn_mask");
  check_mask_type(options.key_padding_mask(), "key_padding_mask");
}

Projections projected(const Projections& in, const Options& options) {
  const auto bias =
      options.in_proj_bias().defined() ? options.in_proj_bias().chunk(3) : std::vector<Tensor>(3);
  if (options.use_separate_proj_weight())
    return {hearth::linear(in.q, options.q_proj_weight(), bias[0]),
            hearth::linear(in.k, options.k_proj_weight(), bias[1]),
            hearth::linear(in.v, options.v_proj_weight(), bias[2])};
  const Tensor& weight = options.in_proj_weight();
  if (in.q.is_same(in.k) && in.k.is_same(in.v)) {
    const auto chunks = hearth::linear(in.q, weight, options.in_proj_bias()).chunk(3, -1);
    return {chunks[0], chunks[1], chunks[2]};
  }
  const auto weights = weight.chunk(3);
  return {hearth::linear(in.q, weights[0], bias[0]), hearth::linear(in.k, weights[1], bias[1]),
          hearth::linear(in.v, weights[2], bias[2])};
}

/// Returns `[length, N, E]` or `[N, length, E]` as `[N, heads, length, E / heads]`.
Tensor split_heads(const Tensor& t, const Options& options) {
  const Tensor split = t.unflatten(2, {options.num_heads(), t.size(2) / options.num_heads()});
  return split.permute(options.batch_first() ? IntArrayRef{0, 2, 1, 3} : IntArrayRef{1, 2, 0, 3});
}

/// Returns the heads of static_k or static_v `[N * heads, length, E / heads]`, which are projected
/// already.
Tensor static_heads(const Tensor& t, const char* name, int64_t batch, const Options& options) {
  const int64_t heads = options.num_heads(), head_width = options.embed_dim_to_check() / heads;
  HEARTH_CHECK(t.dim() == 3 && t.size(0) == batch * heads, "expecting static_", name,
               ".size(0) of ", batch * heads, ", but got sizes ", t.sizes());
  HEARTH_CHECK(t.size(2) == head_width, "expecting static_", name, ".size(2) of ", head_width,
               ", but got ", t.size(2));
  return t.unflatten(0, {t.size(0) / heads, heads});
}

/// Appends the learned key or value, if defined, and zeros if add_zero_attn is set.
Tensor extended(Tensor t, const Tensor& bias, const Options& options) {
  const hearth::detail::Dims appended_sizes{t.size(0), t.size(1), 1, t.size(3)};
  if (bias.defined())
    t = cat({t, bias.view({1, t.size(1), 1, t.size(3)}).expand(appended_sizes)}, 2);
  if (options.add_zero_attn()) t = cat({t, zeros(appended_sizes, t.options())}, 2);
  return t;
}

Projections heads_of(const Projections& in, const Options& options) {
  const auto [q, k, v] = projected(in, options);
  Projections result{split_heads(q, options), {}, {}};
  const bool has_bias = appends_bias(options);
  HEARTH_CHECK(!has_bias || !options.static_k().defined(), "bias cannot be added to static key.");
  HEARTH_CHECK(!has_bias || !options.static_v().defined(), "bias cannot be added to static value.");
  const auto key_heads = [&](const Tensor& fixed, const char* name, const Tensor& projection,
                             const Tensor& bias) {
    const Tensor heads = fixed.defined() ? static_heads(fixed, name, result.q.size(0), options)
                                         : split_heads(projection, options);
    return extended(heads, bias, options);
  };
  result.k = key_heads(options.static_k(), "k", k, options.bias_k());
  result.v = key_heads(options.static_v(), "v", v, options.bias_v());
  return result;
}

/// Returns the attention mask as `[1, 1, rows, keys]` or `[N, heads, rows, keys]`.
Tensor attention_mask(const Tensor& mask, int64_t batch, int64_t heads, int64_t rows,
                      int64_t keys) {
  if (!mask.defined()) return mask;
  using hearth::detail::Dims;
  const Dims shape = mask.dim() == 2 ? Dims{rows, keys} : Dims{batch * heads, rows, keys};
  HEARTH_CHECK(mask.dim() == 2 || mask.dim() == 3, "attn_mask's dimension ", mask.dim(),
               " is not supported");
  HEARTH_CHECK(mask.sizes().equals(shape), "The shape of the ", mask.dim(), "D attn_mask is ",
               mask.sizes(), ", but should be ", IntArrayRef(shape), ".");
  return mask.dim() == 2 ? mask.unsqueeze(0).unsqueeze(0) : mask.unflatten(0, {batch, heads});
}

/// Returns the key padding mask as `[N, 1, 1, keys]`.
Tensor padding_mask(const Tensor& mask, int64_t batch, int64_t keys) {
  if (!mask.defined()) return mask;
  HEARTH_CHECK(mask.sizes().equals({batch, keys}), "Expected key_padding_mask of shape ",
               IntArrayRef({batch, keys}), ", but got ", mask.sizes());
  return mask.unsqueeze(1).unsqueeze(1);
}

/// Appends zeros (or false) to the mask for `count` appended keys.
Tensor padded(const Tensor& mask, int64_t count) {
  if (!mask.defined() || count == 0) return mask;
  return constant_pad_nd(mask, {0, count});
}

/// Turns a bool mask into numbers of `dtype` that are added to the scores.
Tensor additive(const Tensor& mask, ScalarType dtype) {
  if (!mask.defined() || mask.scalar_type() != kBool) return mask;
  return zeros(mask.sizes(), mask.options().dtype(dtype))
      .masked_fill(mask, -std::numeric_limits<double>::infinity());
}

/// Returns the sum of the masks that are defined, as numbers of `dtype`, or undefined.
Tensor joined(const Tensor& a, const Tensor& b, ScalarType dtype) {
  const Tensor x = additive(a, dtype), y = additive(b, dtype);
  const Tensor sum = !x.defined() ? y : !y.defined() ? x : x + y;
  return sum.defined() ? sum.to(dtype) : sum;
}

/// Returns the outputs of the heads, and the weights after dropout. A row whose keys are all masked
/// is NaN, as in PyTorch; with scaled_dot_product_attention it is zero.
std::pair<Tensor, Tensor> attend_with_weights(const Projections& heads, const Tensor& mask,
                                              double dropout_p) {
  const double scale = 1 / std::sqrt(double(heads.q.size(-1)));
  Tensor scores = heads.q.mul(scale).matmul(heads.k.transpose(-2, -1));
  if (mask.defined()) scores = scores.add(mask);
  const Tensor weights = hearth::dropout(scores.softmax(-1), dropout_p, true);
  return {weights.matmul(heads.v), weights};
}

/// Computes attention for batched inputs.
std::tuple<Tensor, Tensor> forward(const Projections& in, const Options& options) {
  check_inputs(in, options);
  const Projections heads = heads_of(in, options);
  const int64_t batch = heads.q.size(0), num_heads = heads.q.size(1), rows = heads.q.size(2);
  const int64_t added = int64_t(appends_bias(options)) + int64_t(options.add_zero_attn());
  const int64_t keys = heads.k.size(2) - added;
  const Tensor mask = joined(
      padded(attention_mask(options.attn_mask(), batch, num_heads, rows, keys), added),
      padded(padding_mask(options.key_padding_mask(), batch, keys), added), in.q.scalar_type());
  const double dropout_p = options.training() ? options.dropout_p() : 0;
  Tensor output, weights;
  if (options.need_weights())
    std::tie(output, weights) = attend_with_weights(heads, mask, dropout_p);
  else
    output = hearth::scaled_dot_product_attention(heads.q, heads.k, heads.v, mask, dropout_p);
  const Tensor joined_heads =
      output.permute(options.batch_first() ? IntArrayRef{0, 2, 1, 3} : IntArrayRef{2, 0, 1, 3})
          .flatten(2);
  if (weights.defined() && options.average_attn_weights()) weights = weights.mean(1);
  return {hearth::linear(joined_heads, options.out_proj_weight(), options.out_proj_bias()),
          weights};
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                        const Tensor& value,
                                                        const Options& options) {
  if (query.dim() != 2) return forward({query, key, value}, options);
  const int64_t batch = options.batch_first() ? 0 : 1;
  // Keeps equal arguments equal, so that one product projects them all.
  const Tensor q = query.unsqueeze(batch);
  const auto batched = [&](const Tensor& t) { return t.is_same(query) ? q : t.unsqueeze(batch); };
  const Tensor k = batched(key), v = value.is_same(key) ? k : batched(value);
  Options with_batch = options;
  if (options.key_padding_mask().defined())
    with_batch.key_padding_mask(options.key_padding_mask().unsqueeze(0));
  const auto [output, weights] = forward({q, k, v}, with_batch);
  return {output.squeeze(batch), weights.defined() ? weights.squeeze(0) : weights};
}

}  // namespace functional

MultiheadAttentionImpl::MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
    : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : options(options_) {
  MultiheadAttentionImpl::reset();
}
HEARTH_DEFINE_DEFAULT_ARGS(MultiheadAttentionImpl, {3, AnyValue(Tensor())}, {4, AnyValue(true)},
                           {5, AnyValue(Tensor())}, {6, AnyValue(true)})

void MultiheadAttentionImpl::reset() {
  const int64_t width = options.embed_dim(), heads = options.num_heads();
  HEARTH_CHECK(width > 0, "embed_dim must be greater than 0");
  HEARTH_CHECK(heads > 0, "num_heads must be greater than 0");
  HEARTH_CHECK(width % heads == 0, "embed_dim must be divisible by num_heads");
  head_dim = width / heads;
  _qkv_same_embed_dim = options.kdim() == width && options.vdim() == width;
  const auto weight = [&](const char* name, bool exists, int64_t rows, int64_t columns) {
    return register_parameter(name, exists ? empty({rows, columns}) : Tensor(), exists);
  };
  q_proj_weight = weight("q_proj_weight", !_qkv_same_embed_dim, width, width);
  k_proj_weight = weight("k_proj_weight", !_qkv_same_embed_dim, width, options.kdim());
  v_proj_weight = weight("v_proj_weight", !_qkv_same_embed_dim, width, options.vdim());
  in_proj_weight = weight("in_proj_weight", _qkv_same_embed_dim, 3 * width, width);
  in_proj_bias = register_parameter("in_proj_bias", options.bias() ? empty({3 * width}) : Tensor(),
                                    options.bias());
  out_proj = register_module("out_proj", Linear(LinearOptions(width, width).bias(options.bias())));
  const auto appended = [&](const char* name) {
    const bool exists = options.add_bias_kv();
    return register_parameter(name, exists ? empty({1, 1, width}) : Tensor(), exists);
  };
  bias_k = appended("bias_k");
  bias_v = appended("bias_v");
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (Tensor* weight : {&in_proj_weight, &q_proj_weight, &k_proj_weight, &v_proj_weight})
    if (weight->defined()) init::xavier_uniform_(*weight);
  if (in_proj_bias.defined()) {
    init::constant_(in_proj_bias, 0);
    init::constant_(out_proj->bias, 0);
  }
  if (bias_k.defined()) init::xavier_normal_(bias_k);
  if (bias_v.defined()) init::xavier_normal_(bias_v);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
    bool need_weights, const Tensor& attn_mask, bool average_attn_weights) {
  return run_module(
      *this,
      [this](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& padding, bool needs,
             const Tensor& mask, bool average) {
        return functional::multi_head_attention_forward(
            q, k, v,
            functional::MultiheadAttentionForwardFuncOptions(
                options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k,
                bias_v, options.add_zero_attn(), options.dropout(), out_proj->weight,
                out_proj->bias)
                .training(is_training())
                .key_padding_mask(padding)
                .need_weights(needs)
                .attn_mask(mask)
                .use_separate_proj_weight(!_qkv_same_embed_dim)
                .q_proj_weight(q_proj_weight)
                .k_proj_weight(k_proj_weight)
                .v_proj_weight(v_proj_weight)
                .average_attn_weights(average)
                .batch_first(options.batch_first()));
      },
      query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights);
}

}  // namespace hearth::nn
