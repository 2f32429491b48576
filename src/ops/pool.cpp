#include "seam/pool.h"

#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/pool_shape.h"

namespace hearth {

namespace {

/// Names and dtypes of the four kinds.
struct PoolNames {
  const char *forward, *node, *backward;
  DtypeSet dtypes;
};
constexpr PoolNames names_of(PoolKind kind) {
  switch (kind) {
    case PoolKind::kMax:
      return {"max_pool2d_with_indices", "MaxPool2DWithIndices", "max_pool2d_with_indices_backward",
              dtypes::kReal};
    case PoolKind::kAverage:
      return {"avg_pool2d", "AvgPool2D", "avg_pool2d_backward", dtypes::kFloating | dtypes::kLong};
    case PoolKind::kAdaptiveMax:
      return {"adaptive_max_pool2d", "AdaptiveMaxPool2D", "adaptive_max_pool2d_backward",
              dtypes::kFloating};
    default:
      return {"_adaptive_avg_pool2d", "AdaptiveAvgPool2D", "_adaptive_avg_pool2d_backward",
              dtypes::kFloating};
  }
}

/// The public name, which errors use.
constexpr const char* name_of(PoolKind kind) {
  return kind == PoolKind::kMax               ? "max_pool2d"
         : kind == PoolKind::kAdaptiveAverage ? "adaptive_avg_pool2d"
                                              : names_of(kind).forward;
}

/// A batch of one, if the tensor has no batch.
View with_batch(const View& view) {
  if (view.dim != 3) return view;
  View batch = view;
  batch.dim = 4;
  batch.sizes[0] = 1;
  batch.strides[0] = view.numel;
  for (int d = 0; d < 3; ++d) {
    batch.sizes[d + 1] = view.sizes[d];
    batch.strides[d + 1] = view.strides[d];
  }
  return batch;
}

/// The elements of each plane at the indices of max pooling.
Tensor picked(const Tensor& planes, const Tensor& indices) {
  const int64_t dim = planes.dim();
  return planes.flatten(dim - 2).gather(dim - 2, indices.flatten(dim - 2)).view_as(indices);
}

template <PoolKind kind>
struct Pool;

/// Inputs: grad_output and, of maxima, indices.
template <PoolKind kind>
struct PoolBackward {
  struct Args {
    PoolArgs pool;
    Dims input_sizes;
    HEARTH_FIELDS(pool, input_sizes)
  };
  static constexpr OpInfo info{.name = names_of(kind).backward,
                               .arguments = "grad_output,indices",
                               .dtypes = dtypes::kFloating,
                               .saves = is_max(kind) ? in_slot(1) : 0,
                               .optional = in_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    set_in_format(context, 0, args.input_sizes, context.in(0).dtype,
                  has_channels_last_strides(context.in(0)));
  }
  static void launch(const Args& args, LaunchContext& context) {
    PoolBackwardParams params;
    params.grad_out = with_batch(context.in(0));
    params.grad_in = with_batch(context.out());
    params.indices = with_batch(context.in(1));
    params.shape = pool_shape(kind, name_of(kind), args.pool, args.input_sizes);
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.needs(0)) return;
    if constexpr (is_max(kind))
      context.set(0, picked(context.grad(), context.in(1)));
    else
      context.set(0, invoke<Pool<kind>>(args.pool, context.grad()).call());
  }
};

/// Outputs: the result and, of maxima, indices.
template <PoolKind kind>
struct Pool {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = names_of(kind).forward,
                               .node = names_of(kind).node,
                               .dtypes = names_of(kind).dtypes,
                               .saves = is_max(kind) ? out_slot(1) : 0,
                               .shapes = in_slot(0),
                               .outputs = is_max(kind) ? 2 : 1,
                               .non_differentiable = out_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    const PoolShape shape = pool_shape(kind, name_of(kind), args, in.sizes());
    Dims sizes(in.sizes());
    sizes[sizes.size() - 2] = shape.rows.out;
    sizes[sizes.size() - 1] = shape.columns.out;
    set_in_format(context, 0, sizes, in.dtype, has_channels_last_strides(in));
    if (is_max(kind)) set_in_format(context, 1, sizes, kLong, has_channels_last_strides(in));
  }
  static void launch(const Args& args, LaunchContext& context) {
    PoolParams params;
    params.in = with_batch(context.in(0));
    params.out = with_batch(context.out());
    if (is_max(kind)) params.indices = with_batch(context.out(1));
    params.shape = pool_shape(kind, name_of(kind), args, context.in_impl(0).sizes());
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.needs(0) || !context.grad().defined()) return;
    const Tensor indices = is_max(kind) ? context.out(1) : Tensor();
    context.set(
        0, invoke<PoolBackward<kind>>({args, context.in_shape(0).sizes()}, context.grad(), indices)
               .call());
  }
};

/// The errors of max_pool1d, which differ from those of max_pool2d.
void check_max_pool1d(const Tensor& self, const PoolArgs& args) {
  const IntArrayRef sizes = self.sizes();
  const size_t dim = sizes.size();
  HEARTH_CHECK((dim == 2 || dim == 3) && sizes[dim - 1] != 0 && sizes[dim - 2] != 0,
               "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
               "for input, but got:",
               sizes);
  const int64_t kernel = args.kernel[1], padding = args.padding[1];
  HEARTH_CHECK(kernel > 0, "max_pool1d() kernel_size must be greater than zero, but got ", kernel);
  HEARTH_CHECK(args.stride[1] > 0, "max_pool1d() stride must be greater than zero, but got ",
               args.stride[1]);
  HEARTH_CHECK(padding >= 0, "max_pool1d() padding must be non-negative, but got ", padding);
  HEARTH_CHECK(padding <= kernel / 2,
               "max_pool1d() padding should be at most half of kernel size, but got padding=",
               padding, " and kernel_size=", kernel);
  HEARTH_CHECK(args.dilation[1] > 0, "max_pool1d() dilation must be greater than zero, but got ",
               args.dilation[1]);
  const int64_t room = sizes[dim - 1] + 2 * padding - args.dilation[1] * (kernel - 1) - 1 +
                       (args.ceil_mode ? args.stride[1] - 1 : 0);
  HEARTH_CHECK(room >= 0, "max_pool1d() Invalid computed output size: ",
               -((-room + args.stride[1] - 1) / args.stride[1]) + 1);
}

void check_2d_or_3d(const char* op, const Tensor& self) {
  HEARTH_CHECK(self.dim() == 2 || self.dim() == 3, "Expected 2 to 3 dimensions, but got ",
               self.dim(),
               "-dimensional tensor for argument #1 'self' (while checking arguments "
               "for ",
               op, ")");
}

void check_output_size(const char* op, IntArrayRef output_size, size_t wanted) {
  HEARTH_CHECK(output_size.size() == wanted, op, ": output_size must be ", wanted);
}

struct MaxPool1d {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = "max_pool1d"};
  static Tensor compute(const Args& args, const Tensor& self) {
    check_max_pool1d(self, args);
    HEARTH_CHECK_AS(NotImplementedError, self.is_floating_point(),
                    "\"max_pool1d_impl\" not implemented for '",
                    hearth::name_of(self.scalar_type()), "'");
    return invoke<Pool<PoolKind::kMax>>(args, self.unsqueeze(-2)).call().squeeze(-2);
  }
};

/// The other kinds in one dimension: pooling of a plane with one row.
template <PoolKind kind, const OpInfo& facts>
struct Pool1d {
  using Args = PoolArgs;
  static constexpr OpInfo info = facts;
  static auto compute(const Args& args, const Tensor& self) {
    check_2d_or_3d(kind == PoolKind::kMax ? "max_pool1d" : facts.name, self);
    const Tensor plane = self.unsqueeze(-2);
    if constexpr (is_max(kind)) {
      const auto [values, indices] = invoke<Pool<kind>>(args, plane).pair();
      return TensorPair(values.squeeze(-2), indices.squeeze(-2));
    } else {
      return invoke<Pool<kind>>(args, plane).call().squeeze(-2);
    }
  }
};
constexpr OpInfo kMaxPool1d{.name = "max_pool1d_with_indices"}, kAvgPool1d{.name = "avg_pool1d"},
    kAdaptiveAvgPool1d{.name = "adaptive_avg_pool1d"},
    kAdaptiveMaxPool1d{.name = "adaptive_max_pool1d"};

struct MaxPool2d {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = "max_pool2d"};
  static Tensor compute(const Args& args, const Tensor& self) {
    return invoke<Pool<PoolKind::kMax>>(args, self).call();
  }
};
struct AdaptiveAvgPool2d {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = "adaptive_avg_pool2d"};
  static Tensor compute(const Args& args, const Tensor& self) {
    const bool all = args.kernel[0] == 1 && args.kernel[1] == 1;
    if (all && self.numel() > 0) return self.mean({{-2, -1}}, true);
    return invoke<Pool<PoolKind::kAdaptiveAverage>>(args, self).call();
  }
};

/// The product of the dimensions before the last three.
int64_t images(const Tensor& self) {
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim() - 3; ++d) count *= self.size(d);
  return count;
}

/// Splits or joins channels and pixels: [n, c, r, s, h, w] <-> [n, c, h, r, w, s].
struct PixelShuffle {
  struct Args {
    int64_t upscale_factor;
    HEARTH_FIELDS(upscale_factor)
  };
  static constexpr OpInfo info{.name = "pixel_shuffle"};
  static Tensor compute(const Args& args, const Tensor& self) {
    const int64_t r = args.upscale_factor;
    HEARTH_CHECK(self.dim() >= 3,
                 "pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
                 self.dim(), " dimension(s)");
    HEARTH_CHECK(r > 0, "pixel_shuffle expects a positive upscale_factor, but got ", r);
    HEARTH_CHECK_AS(
        ValueError, r <= INT32_MAX,
        "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor=", r);
    const int64_t channels = self.size(-3), h = self.size(-2), w = self.size(-1);
    HEARTH_CHECK(channels % (r * r) == 0,
                 "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
                 "square of upscale_factor, but input.size(-3)=",
                 channels, " is not divisible by ", r * r);
    Dims sizes(self.sizes().slice(0, size_t(self.dim() - 3)));
    for (const int64_t size : {channels / (r * r), h * r, w * r}) sizes.push_back(size);
    return self.reshape({images(self), channels / (r * r), r, r, h, w})
        .permute({0, 1, 4, 2, 5, 3})
        .reshape(sizes)
        .contiguous(self.suggest_memory_format());
  }
};
struct PixelUnshuffle {
  struct Args {
    int64_t downscale_factor;
    HEARTH_FIELDS(downscale_factor)
  };
  static constexpr OpInfo info{.name = "pixel_unshuffle"};
  static Tensor compute(const Args& args, const Tensor& self) {
    const int64_t r = args.downscale_factor;
    HEARTH_CHECK(self.dim() >= 3,
                 "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
                 self.dim(), " dimension(s)");
    HEARTH_CHECK(r > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", r);
    const int64_t channels = self.size(-3), h = self.size(-2), w = self.size(-1);
    const auto check = [r](const char* name, int64_t size, int dim) {
      HEARTH_CHECK(size % r == 0, "pixel_unshuffle expects ", name,
                   " to be divisible by downscale_factor, but input.size(", dim, ")=", size,
                   " is not divisible by ", r);
    };
    check("height", h, -2);
    check("width", w, -1);
    Dims sizes(self.sizes().slice(0, size_t(self.dim() - 3)));
    for (const int64_t size : {channels * r * r, h / r, w / r}) sizes.push_back(size);
    return self.reshape({images(self), channels, h / r, r, w / r, r})
        .permute({0, 1, 3, 5, 2, 4})
        .reshape(sizes)
        .contiguous(self.suggest_memory_format());
  }
};

PoolArgs avg_pool2d_args(IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                         bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor) {
  HEARTH_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  PoolArgs args = pool_args("avg_pool2d", kernel, stride, padding, 1, ceil_mode);
  args.count_include_pad = count_include_pad;
  args.divisor = divisor.value_or(0);
  return args;
}

}  // namespace

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return compose<MaxPool1d>(
      pool_args_1d("max_pool1d", kernel_size, stride, padding, dilation, ceil_mode), self);
}
TensorPair max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return compose<Pool1d<PoolKind::kMax, kMaxPool1d>>(
      pool_args_1d("max_pool1d", kernel_size, stride, padding, dilation, ceil_mode), self);
}
Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return compose<MaxPool2d>(
      pool_args("max_pool2d", kernel_size, stride, padding, dilation, ceil_mode), self);
}
TensorPair max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return invoke<Pool<PoolKind::kMax>>(
             pool_args("max_pool2d", kernel_size, stride, padding, dilation, ceil_mode), self)
      .pair();
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  PoolArgs args = pool_args_1d("avg_pool1d", kernel_size, stride, padding, 1, ceil_mode);
  args.count_include_pad = count_include_pad;
  return compose<Pool1d<PoolKind::kAverage, kAvgPool1d>>(args, self);
}
HEARTH_DEFINE_FUNCTION(
    avg_pool2d,
    (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
     bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),
    invoke<Pool<PoolKind::kAverage>>(avg_pool2d_args(kernel_size, stride, padding, ceil_mode,
                                                     count_include_pad, divisor_override),
                                     self))

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  check_output_size("adaptive_avg_pool1d", output_size, 1);
  return compose<Pool1d<PoolKind::kAdaptiveAverage, kAdaptiveAvgPool1d>>(
      adaptive_args({1, output_size[0]}), self);
}
Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  check_output_size("adaptive_avg_pool2d", output_size, 2);
  return compose<AdaptiveAvgPool2d>(adaptive_args(output_size), self);
}
HEARTH_DEFINE_WRITE_OUT(adaptive_avg_pool2d, (const Tensor& self, IntArrayRef output_size),
                        adaptive_avg_pool2d(self, output_size))
TensorPair adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  check_output_size("adaptive_max_pool1d", output_size, 1);
  return compose<Pool1d<PoolKind::kAdaptiveMax, kAdaptiveMaxPool1d>>(
      adaptive_args({1, output_size[0]}), self);
}
TensorPair adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size) {
  HEARTH_CHECK(output_size.size() == 2,
               "adaptive_max_pool2d(): internal error: output_size.size() must be 2");
  return invoke<Pool<PoolKind::kAdaptiveMax>>(adaptive_args(output_size), self).pair();
}

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  return compose<PixelShuffle>({upscale_factor}, self);
}
Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  return compose<PixelUnshuffle>({downscale_factor}, self);
}

}  // namespace hearth
