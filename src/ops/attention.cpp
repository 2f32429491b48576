#include "seam/attention.h"

#include <cmath>
#include <limits>

#include "autograd/tangents.h"
#include "core/backends.h"
#include "core/generator_impl.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/composed_gradient.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/memory_order.h"
#include "seam/random.h"

namespace hearth {

namespace {

/// Returns the scores before softmax: `scale * query * key^T + mask`, with -infinity above the
/// diagonal if causal.
Tensor scores_of(const Tensor& query, const Tensor& key, const Tensor& mask, double scale,
                 bool causal) {
  // As in PyTorch, each factor is multiplied by the root of the scale, so that products
  // overflow later.
  const double root = std::sqrt(std::fabs(scale));
  Tensor scores = query.mul(std::copysign(root, scale)).matmul(key.mul(root).transpose(-2, -1));
  if (mask.defined()) scores = scores.add(mask);
  if (causal) {
    const auto options = TensorOptions(kBool).device(query.device());
    const Tensor masked = ones({scores.size(-2), scores.size(-1)}, options).tril().logical_not();
    scores = scores.masked_fill(masked, -std::numeric_limits<double>::infinity());
  }
  return scores;
}

/// Returns softmax over the last dimension. A row of only -infinity gets weights and gradients 0.
Tensor weights_of(const Tensor& scores) {
  const Tensor masked = scores.eq(-std::numeric_limits<double>::infinity()).all(-1, true);
  return scores.masked_fill(masked, 0).softmax(-1).masked_fill(masked, 0);
}

struct AttentionArgs {
  double scale;
  bool causal;
  double dropout_p;
  HEARTH_FIELDS(scale, causal, dropout_p)
  /// The factor of the weights that dropout keeps.
  double kept_scale() const { return 1 / (1 - dropout_p); }
};

/// Returns the operands that Attention and AttentionBackward have in common.
AttentionOperands operands_of(const AttentionArgs& args, const LaunchContext& context) {
  AttentionOperands operands;
  operands.query = context.in(0);
  operands.key = context.in(1);
  operands.value = context.in(2);
  operands.mask = context.in(3);
  operands.scale = args.scale;
  operands.causal = args.causal;
  operands.kept_scale = args.kept_scale();
  return operands;
}

/// Inputs: query, key, value, mask, kept, grad_output, output, logsumexp.
struct AttentionBackward {
  struct Args {
    AttentionArgs attention;
    SlotSet wanted;
    HEARTH_FIELDS(attention.scale, attention.causal, attention.dropout_p, wanted)
  };
  static constexpr int kGradOut = 5;
  static constexpr OpInfo info{
      .name = "_scaled_dot_product_attention_backward",
      .node = "ScaledDotProductAttentionBackward",
      .arguments = "query,key,value,attn_mask,dropout_mask,grad_output,output,logsumexp",
      .dtypes = dtypes::kFloating,
      .saves = in_slot(0) | in_slot(1) | in_slot(2) | in_slot(3) | in_slot(4) | in_slot(kGradOut),
      .optional = in_slot(3) | in_slot(4)};
  static void infer(const Args& args, InferContext& context) {
    // Gradients take the inputs' memory order, so that the backward of preceding views copies
    // nothing.
    for (int i = 0; i < 3; ++i) {
      context.set(i, context.in(i).sizes(), context.in(i).dtype);
      const Dims strides(context.in(i).strides());
      keep_memory_order(context.out(i), &strides, 1);
    }
    context.keep_only(args.wanted);
  }
  static void launch(const Args& args, LaunchContext& context) {
    AttentionBackwardParams params;
    params.operands = operands_of(args.attention, context);
    params.operands.kept = context.in(4);
    params.grad_out = context.in(kGradOut);
    params.operands.out = context.in(6);
    params.operands.logsumexp = context.in(7);
    params.grad_query = context.out(0);
    params.grad_key = context.out(1);
    params.grad_value = context.out(2);
    run_kernel(context.ctx, params);
  }
  /// The gradients of query, key and value by differentiable ops.
  static std::vector<Tensor> formula(const AttentionArgs& args, const Tensor* in) {
    const Tensor &query = in[0], &key = in[1], &value = in[2];
    const int64_t key_heads = key.size(1), group_size = query.size(1) / key_heads;
    // [batch, key heads, query heads per key head, rows, width]
    const auto grouped = [&](const Tensor& t) {
      return t.defined() ? t.unflatten(1, {key_heads, group_size}) : t;
    };
    const Tensor q = grouped(query), k = key.unsqueeze(2), v = value.unsqueeze(2);
    const Tensor g = grouped(in[kGradOut]), kept = grouped(in[4]);
    const auto dropped = [&](const Tensor& t) {
      return kept.defined() ? t.mul(kept).mul(args.kept_scale()) : t;
    };
    const Tensor weights = weights_of(scores_of(q, k, grouped(in[3]), args.scale, args.causal));
    const Tensor grad_weights = dropped(g.matmul(v.transpose(-2, -1)));
    const Tensor grad_scores =
        weights.mul(grad_weights.sub(weights.mul(grad_weights).sum(-1, true))).mul(args.scale);
    return {grad_scores.matmul(k).flatten(1, 2), grad_scores.transpose(-2, -1).matmul(q).sum(2),
            dropped(weights).transpose(-2, -1).matmul(g).sum(2)};
  }
  static void grad(const Args& args, GradContext& context) {
    composed_gradient(context, kGradOut + 1,
                      [&](const Tensor* in) { return formula(args.attention, in); });
  }
};

/// Draws the weights that dropout keeps, as the op dropout does.
void draw_kept(const AttentionArgs& args, const View& kept, Ctx& ctx) {
  RandomParams params;
  params.kind = RandomParams::Kind::kBernoulli;
  params.out = kept;
  params.a = 1 - args.dropout_p;
  const Draw draw({}, ctx.device());
  params.source = draw.source();
  run_kernel(ctx, params);
}

constexpr OpInfo kPlainInfo{
    .name = "_scaled_dot_product_attention",
    .node = "ScaledDotProductAttention",
    .arguments = "query,key,value,attn_mask",
    .dtypes = dtypes::kFloating,
    .saves = in_slot(0) | in_slot(1) | in_slot(2) | in_slot(3) | out_slot(0) | out_slot(1),
    .optional = in_slot(3),
    .outputs = 2,
    .non_differentiable = out_slot(1)};
/// The OpInfo of the op with dropout, which has one more output: the weights that dropout keeps.
constexpr OpInfo dropout_info() {
  OpInfo info = kPlainInfo;
  info.name = "_scaled_dot_product_attention_dropout";
  info.effect = Effect::kRandom;
  info.saves |= out_slot(2);
  info.outputs = 3;
  info.non_differentiable |= out_slot(2);
  return info;
}
constexpr OpInfo kDropoutInfo = dropout_info();

/// Inputs: 4-D query, key, value, and a floating mask of the scores' sizes; outputs: the result,
/// the logarithms of the rows' sums of exponentials and, with dropout, the weights that it keeps.
template <const OpInfo& op_info>
struct Attention {
  using Args = AttentionArgs;
  static constexpr OpInfo info = op_info;
  static constexpr bool kDrops = info.outputs == 3;
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& query = context.in(0);
    Dims sizes(query.sizes());
    sizes[3] = context.in(2).sizes()[3];
    context.set(0, sizes, query.dtype);
    const Dims strides(query.strides());
    keep_memory_order(context.out(0), &strides, 1);
    context.set(1, query.sizes().slice(0, 3), query.dtype == kDouble ? kDouble : kFloat);
    if constexpr (kDrops) {
      sizes[3] = context.in(1).sizes()[2];
      context.set(2, sizes, kBool);
    }
  }
  static void launch(const Args& args, LaunchContext& context) {
    AttentionParams params{operands_of(args, context)};
    params.operands.out = context.out(0);
    params.operands.logsumexp = context.out(1);
    if constexpr (kDrops) {
      params.operands.kept = context.out(2);
      draw_kept(args, params.operands.kept, context.ctx);
    }
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set_wanted(invoke<AttentionBackward>({args, context.wanted()}, context.in(0),
                                                 context.in(1), context.in(2), context.in(3),
                                                 kDrops ? context.out(2) : Tensor(), context.grad(),
                                                 context.out(0), context.out(1))
                           .all());
  }
};

/// The arguments of the public function.
struct SdpaArgs {
  double dropout_p;
  bool is_causal;
  double scale;
  bool enable_gqa;
  HEARTH_FIELDS(dropout_p, is_causal, scale, enable_gqa)
};

void check(const SdpaArgs& args, const Tensor& query, const Tensor& key, const Tensor& value,
           const Tensor& mask) {
  const ScalarType dtype = query.scalar_type();
  HEARTH_CHECK(dtype == key.scalar_type() && dtype == value.scalar_type(),
               "Expected query, key, and value to have the same dtype, but got query.dtype: ",
               TypeMeta(dtype).name(), " key.dtype: ", TypeMeta(key.scalar_type()).name(),
               " and value.dtype: ", TypeMeta(value.scalar_type()).name(), " instead.");
  HEARTH_CHECK(
      query.device().type() == key.device().type() &&
          query.device().type() == value.device().type(),
      "Expected query, key, and value to have the same device type, but got query.device: ",
      query.device(), " key.device: ", key.device(), " and value.device: ", value.device(),
      " instead.");
  HEARTH_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
               "Expected query, key, and value to all be  at least 2 dimensional, but got "
               "query.dim: ",
               query.dim(), " key.dim: ", key.dim(), " and value.dim: ", value.dim(), " instead.");
  if (args.enable_gqa)
    for (const Tensor* t : {&query, &key, &value})
      t->size(-3);  // throws if there is no dimension of heads
  HEARTH_CHECK(!mask.defined() || !args.is_causal,
               "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
               "is_causal=True");
  if (!mask.defined()) return;
  const ScalarType type = mask.scalar_type();
  HEARTH_CHECK(type == kBool || type == kFloat || type == dtype,
               "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
               "attn_mask.dtype: ",
               TypeMeta(type).name(), " and  query.dtype: ", TypeMeta(dtype).name(), " instead.");
}

/// The mask as a floating tensor that is added to the scores.
Tensor additive(const Tensor& mask, ScalarType dtype) {
  if (!mask.defined()) return mask;
  if (mask.scalar_type() != kBool) return dtype == kDouble ? mask.to(dtype) : mask;
  return zeros(mask.sizes(), mask.options().dtype(dtype))
      .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

bool is_expandable(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  const size_t added = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != to[added + d]) return false;
  return true;
}

/// The sizes of the scores.
Dims score_sizes(const Tensor& query, const Tensor& key) {
  Dims sizes(query.sizes());
  sizes[sizes.size() - 1] = key.size(-2);
  return sizes;
}

/// Whether the sizes before rows and width are equal. With `shares_heads` (grouped-query
/// attention), key's number of heads need only divide query's.
bool same_batch(const Tensor& query, const Tensor& key, bool shares_heads) {
  if (query.dim() != key.dim()) return false;
  for (int64_t d = 0; d + 2 < query.dim(); ++d) {
    const int64_t a = query.size(d), b = key.size(d);
    const bool may_differ = shares_heads && d == query.dim() - 3 && b > 0 && a % b == 0;
    if (a != b && !may_differ) return false;
  }
  return true;
}

/// Whether query has so few rows that CUDA's tiles (64 rows, 32 of doubles) would be almost empty;
/// the scores of these rows need little memory.
bool is_decoding(const Tensor& query) { return query.is_cuda() && query.size(-2) < 16; }

/// Whether the kernel can compute attention with this dropout: always if p = 0, else only on the
/// CPU. With p = 1, it would multiply by an infinite kept_scale.
bool can_fuse_dropout(double p, const Tensor& query) {
  return p == 0 || (p > 0 && p < 1 && !query.is_cuda());
}

bool can_fuse(const SdpaArgs& args, const Tensor& query, const Tensor& key, const Tensor& value,
              const Tensor& mask) {
  const bool is_supported = query.is_floating_point() && can_fuse_dropout(args.dropout_p, query) &&
                            query.numel() > 0 && key.numel() > 0 && value.numel() > 0 &&
                            query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2) &&
                            same_batch(key, value, false) &&
                            same_batch(query, key, args.enable_gqa) &&
                            has_kernel(query.device(), KernelId::Attention) && !is_decoding(query);
  if (!is_supported || !mask.defined()) return is_supported;
  return !autograd::wants_derivative(mask) && mask.dim() >= 2 &&
         is_expandable(mask.sizes(), score_sizes(query, key));
}

Tensor as_4d(const Tensor& t) {
  if (t.dim() > 4) return t.flatten(0, t.dim() - 4);
  if (t.dim() == 4) return t;
  return t.dim() == 3 ? t.unsqueeze(0) : t.unsqueeze(0).unsqueeze(0);
}

Tensor fused(const SdpaArgs& args, const Tensor& query, const Tensor& key, const Tensor& value,
             const Tensor& mask) {
  const Tensor q = as_4d(query), k = as_4d(key), v = as_4d(value);
  const Tensor m = mask.defined() ? as_4d(mask.expand(score_sizes(query, key))) : mask;
  const AttentionArgs fused_args{args.scale, args.is_causal, args.dropout_p};
  const Tensor out =
      args.dropout_p == 0
          ? std::get<0>(invoke<Attention<kPlainInfo>>(fused_args, q, k, v, m).pair())
          : std::get<0>(invoke<Attention<kDropoutInfo>>(fused_args, q, k, v, m).triple());
  if (query.dim() == 4) return out;
  Dims sizes(query.sizes());
  sizes[sizes.size() - 1] = value.size(-1);
  return out.view(sizes);
}

Tensor composed_attention(const SdpaArgs& args, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& mask) {
  const bool is_half = is_reduced_float(query.scalar_type());
  const auto widened = [&](const Tensor& t) { return is_half ? t.to(kFloat) : t; };
  const auto repeated = [&](const Tensor& t) {
    if (!args.enable_gqa) return widened(t);
    const bool has_heads = query.dim() > 2 && t.dim() > 2;
    if (has_heads && query.size(-3) == t.size(-3)) return widened(t);  // also if there are no heads
    HEARTH_CHECK(has_heads && t.size(-3) > 0 && query.size(-3) % t.size(-3) == 0,
                 "Number of heads in key and value must divide the number of heads in query");
    return widened(t).repeat_interleave(query.size(-3) / t.size(-3), -3);
  };
  const Tensor scores = scores_of(widened(query), repeated(key), mask, args.scale, args.is_causal);
  const Tensor weights = dropout(weights_of(scores), args.dropout_p, true);
  return weights.matmul(repeated(value)).to(query.scalar_type());
}

/// Zeros, which depend on all inputs: PyTorch's result without heads in key and value.
Tensor headless_attention(const Tensor& query, const Tensor& key, const Tensor& value) {
  const Tensor no_features = query.narrow(-1, 0, 0);
  return no_features.matmul(zeros({0, value.size(-1)}, value.options().requires_grad(false)))
      .add(key.sum())
      .add(value.sum());
}

struct ScaledDotProductAttention {
  using Args = SdpaArgs;
  static constexpr OpInfo info{.name = "scaled_dot_product_attention", .amp = Amp::kLower};
  static Tensor compute(const Args& args, const Tensor& query, const Tensor& key,
                        const Tensor& value, const Tensor& attn_mask) {
    check(args, query, key, value, attn_mask);
    const auto has_no_heads = [](const Tensor& t) { return t.dim() > 2 && t.size(-3) == 0; };
    if (has_no_heads(key) && has_no_heads(value) && query.numel() > 0)
      return headless_attention(query, key, value);
    const Tensor mask = additive(attn_mask, query.scalar_type());
    return can_fuse(args, query, key, value, mask)
               ? fused(args, query, key, value, mask)
               : composed_attention(args, query, key, value, mask);
  }
};

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale, bool enable_gqa) {
  constexpr const char* kName = ScaledDotProductAttention::info.name;
  check_defined(kName, 0, "query", query);
  check_defined(kName, 1, "key", key);
  check_defined(kName, 2, "value", value);
  const double width = query.dim() > 0 ? double(query.size(-1)) : 1;
  return compose<ScaledDotProductAttention>(
      {dropout_p, is_causal, scale.value_or(1 / std::sqrt(width)), enable_gqa}, query, key, value,
      or_undefined(attn_mask));
}

}  // namespace hearth
