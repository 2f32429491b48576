#include "ops/embedding_bag.h"

#include "core/backends.h"
#include "hearth/operators.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/promote.h"

namespace hearth {

namespace {

Bags bags_of(const BagArgs& args, const View& indices, const View& offsets, int64_t rows) {
  Bags bags;
  bags.indices = indices;
  bags.offsets = offsets;
  bags.count = args.num_bags(offsets.numel);
  bags.rows = rows;
  bags.padding_idx = args.padding_idx;
  return bags;
}

/// embedding_bag without autocast and checks. `scale` (per_sample_weights) may be undefined. All
/// tensors except the weight are contiguous.
TensorQuad bags_by_kernel(const BagArgs& args, const Tensor& weight, const Tensor& indices,
                          const Tensor& offsets, const Tensor& scale);
/// The gradient of the weight. `scale`, `bag_size` and `max_indices` may be undefined.
Tensor weight_gradient(const BagArgs& args, int64_t rows, const Tensor& grad, const Tensor& indices,
                       const Tensor& offsets, const Tensor& scale, const Tensor& bag_size,
                       const Tensor& max_indices);

/// The gradient of per_sample_weights: dot products of the rows with the gradients of their bags.
struct EmbeddingBagScaleBackward {
  using Args = BagArgs;
  static constexpr OpInfo info{.name = "_embedding_bag_per_sample_weights_backward",
                               .arguments = "grad,weight,indices,offsets",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1) | in_slot(2) | in_slot(3)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(2).sizes(), context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View weight = dense(context, context.in(1));
    // With include_last_offset, indices after the last offset are in no bag.
    run_fill(context.ctx, context.out(), 0);
    run_kernel(context.ctx, EmbeddingBagScaleBackwardParams{
                                dense(context, context.in(0)), weight, context.out(),
                                bags_of(args, context.in(2), context.in(3), weight.sizes[0])});
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor g = context.grad().contiguous(), indices = context.in(2), offsets = context.in(3);
    if (context.needs(0))
      context.set(0, std::get<0>(bags_by_kernel(args, context.in(1), indices, offsets, g)));
    if (context.needs(1))
      context.set(1, weight_gradient(args, context.in_sizes(1)[0], context.in(0), indices, offsets,
                                     g, Tensor(), Tensor()));
  }
};

struct EmbeddingBagBackward {
  struct Args {
    BagArgs bags;
    int64_t rows;
    HEARTH_FIELDS(bags, rows)
  };
  static constexpr OpInfo info{
      .name = "_embedding_bag_backward",
      .arguments = "grad,indices,offsets,per_sample_weights,bag_size,maximum_indices",
      .dtypes = dtypes::kFloatAndDouble,
      .saves = in_slot(0) | in_slot(1) | in_slot(2) | in_slot(3) | in_slot(4) | in_slot(5),
      .optional = in_slot(3) | in_slot(4) | in_slot(5)};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, Dims{args.rows, context.in(0).sizes()[1]}, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    EmbeddingBagBackwardParams params;
    params.grad = dense(context, context.in(0));
    params.scale = context.in(3);
    params.bag_size = context.in(4);
    params.max_indices = context.in(5);
    params.grad_weight = context.out();
    params.bags = bags_of(args.bags, context.in(1), context.in(2), args.rows);
    params.mode = args.bags.mode;
    run_fill(context.ctx, params.grad_weight, 0);
    run_kernel(context.ctx, params);
  }
  /// The op is linear in grad and in per_sample_weights.
  static void grad(const Args& args, GradContext& context) {
    const Tensor g = context.grad(), indices = context.in(1), offsets = context.in(2);
    if (context.needs(3))
      context.set(
          3,
          invoke<EmbeddingBagScaleBackward>(args.bags, context.in(0), g, indices, offsets).call());
    if (!context.needs(0)) return;
    if (args.bags.mode != BagMode::kMax)
      return context.set(
          0, std::get<0>(bags_by_kernel(args.bags, g, indices, offsets, context.in(3))));
    const Tensor empty_bags = context.in(4).eq(0).unsqueeze(1);
    context.set(0, g.gather(0, context.in(5)).masked_fill(empty_bags, 0));
  }
};

/// Outputs: the result, offset2bag, bag_size and max_indices, as PyTorch's embedding_bag.
struct EmbeddingBag {
  struct Args {
    BagArgs bags;
    bool scale_grad_by_freq;
    HEARTH_FIELDS(bags, scale_grad_by_freq)
  };
  static constexpr OpInfo info{.name = "_embedding_bag",
                               .node = "EmbeddingBag",
                               .arguments = "weight,indices,offsets,per_sample_weights",
                               .dtypes = dtypes::kFloating,
                               .optional = in_slot(3),
                               .outputs = 4,
                               .non_differentiable = out_slot(1) | out_slot(2) | out_slot(3),
                               .always_launches = true};
  /// Whether offset2bag is computed. As in ATen, not for sums of float or half types without
  /// padding_idx.
  static bool has_offset2bag(const Args& args, const TensorImpl& weight) {
    return args.bags.mode != BagMode::kSum || args.bags.padding_idx >= 0 || weight.dtype == kDouble;
  }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& weight = context.in(0);
    const int64_t num_offsets = context.in(2).numel, bags = args.bags.num_bags(num_offsets);
    const Dims rows{bags, weight.sizes()[1]};
    const bool is_sum = args.bags.mode == BagMode::kSum, is_max = args.bags.mode == BagMode::kMax;
    context.set(0, rows, weight.dtype);
    context.set(1, Dims{has_offset2bag(args, weight) ? context.in(1).numel : 0}, kLong);
    context.set(2, Dims{is_sum ? num_offsets : bags}, kLong);
    context.set(3, is_max ? rows : Dims{is_sum ? num_offsets : bags}, kLong);
  }
  static void launch(const Args& args, LaunchContext& context) {
    EmbeddingBagParams params;
    params.weight = context.in(0);
    params.scale = context.in(3);
    params.out = context.out(0);
    params.offset2bag = context.out(1);
    params.mode = args.bags.mode;
    if (params.mode == BagMode::kSum) {
      run_fill(context.ctx, context.out(2), 0);
    } else {
      params.bag_size = context.out(2);
    }
    if (params.mode == BagMode::kMax) params.max_indices = context.out(3);
    // Indices after the last offset are in no bag.
    if (args.bags.include_last_offset) run_fill(context.ctx, params.offset2bag, 0);
    params.bags = bags_of(args.bags, context.in(1), context.in(2), params.weight.sizes[0]);
    run_kernel(context.ctx, params);
    if (params.mode != BagMode::kMax) run_copy(context.ctx, context.out(3), context.out(2));
  }
  static SlotSet saves(const Args&, SlotSet needs) {
    const SlotSet bags = in_slot(1) | in_slot(2);
    return bags | (needs & in_slot(0) ? in_slot(3) | out_slot(2) | out_slot(3) : 0u) |
           (needs & in_slot(3) ? in_slot(0) : 0u);
  }
  /// The factors of the rows' gradients: per_sample_weights, divided by the frequencies of the
  /// indices if scale_grad_by_freq.
  static Tensor factors(const Args& args, GradContext& context, ScalarType wide, int64_t rows) {
    const Tensor scale = context.in(3).defined() ? context.in(3).to(wide) : Tensor();
    if (!args.scale_grad_by_freq) return scale;
    const Tensor index = context.in(1).to(kLong);
    const Tensor weights =
        scale.defined() ? scale : ones({index.numel()}, index.options().dtype(wide));
    const Tensor counts = zeros({rows}, weights.options()).index_add(0, index, ones_like(weights));
    return weights.div(counts.index_select(0, index));
  }
  static void grad(const Args& args, GradContext& context) {
    const ScalarType type = context.grad().scalar_type(), wide = wide_type(type);
    const Tensor g = context.grad().to(wide), indices = context.in(1), offsets = context.in(2);
    if (context.needs(0)) {
      const int64_t rows = context.in_sizes(0)[0];
      context.set(
          0, weight_gradient(args.bags, rows, g, indices, offsets,
                             factors(args, context, wide, rows), context.out(2), context.out(3))
                 .to(type));
    }
    if (context.needs(3))
      context.set(3, invoke<EmbeddingBagScaleBackward>(args.bags, g, context.in(0).to(wide),
                                                       indices, offsets)
                         .call()
                         .to(type));
  }
};

TensorQuad quad_of(std::vector<Tensor> outputs) {
  return {std::move(outputs[0]), std::move(outputs[1]), std::move(outputs[2]),
          std::move(outputs[3])};
}

TensorQuad bags_by_kernel(const BagArgs& args, const Tensor& weight, const Tensor& indices,
                          const Tensor& offsets, const Tensor& scale) {
  return quad_of(
      invoke<EmbeddingBag>({args, false}, weight.contiguous(), indices, offsets, scale).all());
}
Tensor weight_gradient(const BagArgs& args, int64_t rows, const Tensor& grad, const Tensor& indices,
                       const Tensor& offsets, const Tensor& scale, const Tensor& bag_size,
                       const Tensor& max_indices) {
  return invoke<EmbeddingBagBackward>({args, rows}, grad, indices, offsets, scale, bag_size,
                                      max_indices)
      .call();
}

/// The op of the public function, which checks its arguments.
struct EmbeddingBagOf {
  struct Args {
    bool scale_grad_by_freq;
    int64_t mode;
    bool sparse, include_last_offset;
    std::optional<int64_t> padding_idx;
    HEARTH_FIELDS(scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx)
  };
  static constexpr OpInfo info{.name = "embedding_bag",
                               .arguments = "weight,indices,offsets,per_sample_weights"};

  static void check_type(const char* name, const Tensor& t, const char* types, bool is_supported) {
    HEARTH_CHECK(is_supported, "Expected tensor for argument #1 '", name,
                 "' to have one of the following scalar types: ", types, "; but got ", t.toString(),
                 " instead (while checking arguments for embedding_bag)");
  }
  static void check_index(const Tensor& t) {
    check_type("indices", t, "Long, Int", t.scalar_type() == kLong || t.scalar_type() == kInt);
  }
  static void check_scale(const Args& args, const Tensor& weight, const Tensor& indices,
                          const Tensor& scale) {
    if (!scale.defined()) return;
    HEARTH_CHECK(args.mode == 0,
                 "embedding_bag: per_sample_weights only supported with mode='sum'");
    HEARTH_CHECK(scale.scalar_type() == weight.scalar_type(),
                 "Expected tensor for argument #1 'weight' to have the same type as tensor for "
                 "argument #1 'per_sample_weights'; but type ",
                 weight.toString(), " does not equal ", scale.toString(),
                 " (while checking arguments for embedding_bag)");
    HEARTH_CHECK(scale.dim() == 1 && scale.numel() == indices.numel(),
                 "embedding_bag: per_sample_weights must be a 1D Tensor with one element for each "
                 "of ",
                 indices.numel(), " indices, but has sizes ", scale.sizes());
  }
  /// As in PyTorch, checks the first and the last offset, and only on the CPU. The kernels report
  /// offsets outside the indices or in a wrong order, on all devices.
  static void check_offsets(const Tensor& indices, const Tensor& offsets) {
    if (!offsets.is_cpu() || offsets.numel() == 0) return;
    const int64_t first = offsets.select(0, 0).item<int64_t>();
    const int64_t last = offsets.select(0, -1).item<int64_t>();
    HEARTH_CHECK(first == 0,
                 "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                 "from position 0. However, got ",
                 first);
    HEARTH_CHECK(last <= indices.numel(), "offsets[-1] can not be greater than input's length ",
                 indices.numel(), " but got offsets[-1] of ", last);
  }
  static void check(const Args& args, const Tensor& weight, const Tensor& indices,
                    const Tensor& offsets, const Tensor& scale) {
    HEARTH_CHECK(weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ",
                 weight.dim());
    HEARTH_CHECK(indices.dim() == 1 || indices.dim() == 2,
                 "input has to be a 1D or 2D Tensor, but got Tensor of dimension ", indices.dim());
    HEARTH_CHECK(offsets.dim() == 1, "offsets has to be a 1D Tensor, but got Tensor of dimension ",
                 offsets.dim());
    check_index(indices);
    check_index(offsets);
    check_type("weight", weight, "Half, BFloat16, Float, Double", weight.is_floating_point());
    HEARTH_CHECK(args.mode >= 0 && args.mode <= 2, "`mode` must be sum, mean, or max.");
    HEARTH_CHECK(!args.include_last_offset || offsets.numel() >= 1,
                 "include_last_offset: number of offset should be at least 1");
    HEARTH_CHECK_AS(NotImplementedError, !args.sparse,
                    "embedding_bag(): sparse gradients are not supported; use sparse(false)");
    HEARTH_CHECK(args.mode != 2 || !args.scale_grad_by_freq,
                 "embedding_bag: scale_grad_by_freq is not supported with mode='max'");
    check_scale(args, weight, indices, scale);
    check_offsets(indices, offsets);
  }
  /// The padding row, counted from 0; -1 without one.
  static int64_t padding_of(const Args& args, int64_t rows) {
    if (!args.padding_idx) return -1;
    const int64_t index = *args.padding_idx;
    HEARTH_CHECK(index >= -rows && index < rows,
                 "padding_idx must be within the number of embeddings, ", -rows, " through ",
                 rows - 1, ", but got ", index);
    return index < 0 ? index + rows : index;
  }
  /// Throws the error of the kernel that ATen uses for sums and means of float and half types.
  static void check_rows(const Tensor& index, int64_t rows) {
    const Tensor bad = index.lt(0).logical_or(index.ge(rows)).nonzero();
    if (bad.numel() == 0) return;
    const int64_t position = bad.view({-1}).select(0, 0).item<int64_t>();
    detail::fail<Error>("Index ", position, " of input takes value ",
                        index.select(0, position).item<int64_t>(),
                        " which is not in the valid range [0, ", rows, ")");
  }
  static TensorQuad compute(const Args& args, const Tensor& weight, const Tensor& indices,
                            const Tensor& offsets, const Tensor& scale) {
    check(args, weight, indices, offsets, scale);
    const BagArgs bags{BagMode(args.mode), padding_of(args, weight.size(0)),
                       args.include_last_offset};
    const ScalarType type =
        indices.scalar_type() == offsets.scalar_type() ? indices.scalar_type() : kLong;
    const Tensor index = indices.to(type).flatten().contiguous();
    const Tensor begin = offsets.to(type).contiguous();
    if (!has_kernel(weight.device(), KernelId::EmbeddingBag)) {
      HEARTH_CHECK_AS(NotImplementedError, !args.scale_grad_by_freq,
                      "embedding_bag(): scale_grad_by_freq is not supported on this device");
      return embedding_bag_composed(bags, weight, index, begin, scale);
    }
    const Tensor table = weight.stride(1) == 1 ? weight : weight.contiguous();
    try {
      return quad_of(
          invoke<EmbeddingBag>({bags, args.scale_grad_by_freq}, table, index, begin, scale).all());
    } catch (const Error&) {
      const bool fast = bags.mode != BagMode::kMax && bags.padding_idx < 0;
      if (fast && weight.is_cpu() && weight.scalar_type() != kDouble)
        check_rows(index, weight.size(0));
      throw;
    }
  }
};

}  // namespace

TensorQuad embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                         bool scale_grad_by_freq, int64_t mode, bool sparse,
                         const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                         std::optional<int64_t> padding_idx) {
  return compose<EmbeddingBagOf>(
      {scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx}, weight, indices,
      offsets, or_undefined(per_sample_weights));
}
TensorQuad embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                         bool scale_grad_by_freq, int64_t mode, bool sparse,
                         const std::optional<Tensor>& per_sample_weights,
                         bool include_last_offset) {
  return embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                       per_sample_weights, include_last_offset, std::nullopt);
}

}  // namespace hearth
