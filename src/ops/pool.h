// Pooling by the kernels of seam/pool.h.
#pragma once

#include "hearth/autograd.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/pool_shape.h"

namespace hearth {

/// The names and dtypes of a pooling op.
struct PoolNames {
  const char *forward, *node, *backward;
  const char* public_name;  // in errors
  DtypeSet dtypes;
};
constexpr DtypeSet kAverageDtypes = dtypes::kFloating | dtypes::kLong;
/// Indexed by the number of spatial dimensions minus 2 and by PoolKind.
constexpr PoolNames kPoolNames[2][4] = {
    {{"max_pool2d_with_indices", "MaxPool2DWithIndices", "max_pool2d_with_indices_backward",
      "max_pool2d", dtypes::kReal},
     {"avg_pool2d", "AvgPool2D", "avg_pool2d_backward", "avg_pool2d", kAverageDtypes},
     {"adaptive_max_pool2d", "AdaptiveMaxPool2D", "adaptive_max_pool2d_backward",
      "adaptive_max_pool2d", dtypes::kFloating},
     {"_adaptive_avg_pool2d", "AdaptiveAvgPool2D", "_adaptive_avg_pool2d_backward",
      "adaptive_avg_pool2d", dtypes::kFloating}},
    {{"max_pool3d_with_indices", "MaxPool3DWithIndices", "max_pool3d_with_indices_backward",
      "max_pool3d", dtypes::kReal},
     {"avg_pool3d", "AvgPool3D", "avg_pool3d_backward", "avg_pool3d", kAverageDtypes},
     {"adaptive_max_pool3d", "AdaptiveMaxPool3D", "adaptive_max_pool3d_backward",
      "adaptive_max_pool3d", dtypes::kFloating},
     {"_adaptive_avg_pool3d", "AdaptiveAvgPool3D", "_adaptive_avg_pool3d_backward",
      "adaptive_avg_pool3d", dtypes::kFloating}}};
constexpr PoolNames names_of(PoolKind kind, size_t spatial) {
  return kPoolNames[spatial - 2][size_t(kind)];
}

/// Whether the output is in channels_last if the input is. As in PyTorch, the only 3-D op that does
/// so is max_pool3d.
constexpr bool keeps_format(PoolKind kind, size_t spatial) {
  return spatial == 2 || kind == PoolKind::kMax;
}

/// Autocast's policy on the CPU.
constexpr Amp pool_amp_cpu(PoolKind kind, size_t spatial) {
  return spatial == 3 && (kind == PoolKind::kAverage || kind == PoolKind::kAdaptiveMax)
             ? Amp::kFloat32
             : Amp::kKeep;
}

/// The elements of each plane or volume at the indices of max pooling.
inline Tensor picked(const Tensor& source, const Tensor& indices, size_t spatial) {
  const int64_t first = source.dim() - int64_t(spatial);
  return source.flatten(first).gather(first, indices.flatten(first)).view_as(indices);
}

template <PoolKind kind, size_t spatial>
struct Pool;

/// Inputs: grad_output and, for maxima, indices.
template <PoolKind kind, size_t spatial>
struct PoolBackward {
  struct Args {
    PoolArgs pool;
    Dims input_sizes;
    HEARTH_FIELDS(pool, input_sizes)
  };
  static constexpr PoolNames names = names_of(kind, spatial);
  static constexpr OpInfo info{.name = names.backward,
                               .arguments = "grad_output,indices",
                               .dtypes = dtypes::kFloating,
                               .saves = is_max(kind) ? in_slot(1) : 0,
                               .optional = in_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    if constexpr (kind == PoolKind::kAdaptiveAverage || kind == PoolKind::kAdaptiveMax)
      check_gradient_not_empty(names.backward + (names.backward[0] == '_'), context.in(0).sizes());
    set_in_format(
        context, 0, args.input_sizes, context.in(0).dtype,
        args.input_sizes.size() == spatial + 2 && has_channels_last_strides(context.in(0)));
  }
  static void launch(const Args& args, LaunchContext& context) {
    PoolBackwardParams params;
    params.grad_out = as_volumes(context.in(0), spatial);
    params.grad_in = as_volumes(context.out(), spatial);
    params.indices = as_volumes(context.in(1), spatial);
    params.shape = pool_shape(kind, names.public_name, args.pool, args.input_sizes);
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.needs(0)) return;
    if constexpr (is_max(kind))
      context.set(0, picked(context.grad(), context.in(1), spatial));
    else
      context.set(0, invoke<Pool<kind, spatial>>(args.pool, context.grad()).call());
  }
};

/// Outputs: the result and, for maxima, indices.
template <PoolKind kind, size_t spatial>
struct Pool {
  using Args = PoolArgs;
  static constexpr PoolNames names = names_of(kind, spatial);
  static constexpr OpInfo info{.name = names.forward,
                               .node = names.node,
                               .dtypes = names.dtypes,
                               .amp_cpu = pool_amp_cpu(kind, spatial),
                               .saves = is_max(kind) ? out_slot(1) : 0,
                               .shapes = in_slot(0),
                               .outputs = is_max(kind) ? 2 : 1,
                               .non_differentiable = out_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    const PoolShape shape = pool_shape(kind, names.public_name, args, in.sizes());
    const Dims sizes = pooled_sizes(shape, spatial, in.sizes());
    const bool channels_last = keeps_format(kind, spatial) && size_t(in.dim) == spatial + 2 &&
                               has_channels_last_strides(in);
    set_in_format(context, 0, sizes, in.dtype, channels_last);
    if (is_max(kind)) set_in_format(context, 1, sizes, kLong, channels_last);
  }
  static void launch(const Args& args, LaunchContext& context) {
    PoolParams params;
    params.in = as_volumes(context.in(0), spatial);
    params.out = as_volumes(context.out(), spatial);
    if (is_max(kind)) params.indices = as_volumes(context.out(1), spatial);
    params.shape = pool_shape(kind, names.public_name, args, context.in_impl(0).sizes());
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.needs(0) || !context.grad().defined()) return;
    const Tensor indices = is_max(kind) ? context.out(1) : Tensor();
    context.set(0, invoke<PoolBackward<kind, spatial>>({args, context.in_shape(0).sizes()},
                                                       context.grad(), indices)
                       .call());
  }
};

}  // namespace hearth
