#include "seam/grid_sampler.h"

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "hearth/operators.h"
#include "ops/composed_gradient.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

struct GridSamplerArgs {
  int64_t interpolation_mode;  // 0: linear, 1: nearest, 2: cubic
  int64_t padding_mode;        // 0: zeros, 1: border, 2: reflection
  bool align_corners;
  HEARTH_FIELDS(interpolation_mode, padding_mode, align_corners)

  GridRule rule() const {
    return {GridMode(interpolation_mode), GridPadding(padding_mode), align_corners};
  }
};

void check_sizes(const TensorImpl& input, const TensorImpl& grid) {
  const IntArrayRef in = input.sizes(), grid_sizes = grid.sizes();
  HEARTH_CHECK(!in.empty() && !grid_sizes.empty() && in[0] == grid_sizes[0],
               "grid_sampler(): expected grid and input to have same batch size, but got input "
               "with sizes ",
               in, " and grid with sizes ", grid_sizes);
  HEARTH_CHECK(grid_sizes[grid_sizes.size() - 1] == int64_t(in.size()) - 2,
               "grid_sampler(): expected grid to have ", "size ", int64_t(in.size()) - 2,
               " in last dimension, but got grid with sizes ", grid_sizes);
  for (size_t d = 2; d < in.size(); ++d)
    HEARTH_CHECK(in[d] > 0,
                 "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                 "has sizes ",
                 in, " with dimension ", d, " being empty");
}

void check_rank(IntArrayRef in, IntArrayRef grid, size_t rank) {
  HEARTH_CHECK(in.size() == rank && grid.size() == rank, "grid_sampler(): expected ", rank,
               "D input and grid with same number of dimensions, but got input with sizes ", in,
               " and grid with sizes ", grid);
}

/// Throws for unknown modes, for which PyTorch reads undefined memory.
void check_modes(const GridSamplerArgs& args) {
  HEARTH_CHECK(args.interpolation_mode >= 0 && args.interpolation_mode <= 2,
               "grid_sampler(): expected interpolation_mode to be 0, 1 or 2, but got ",
               args.interpolation_mode);
  HEARTH_CHECK(args.padding_mode >= 0 && args.padding_mode <= 2,
               "grid_sampler(): expected padding_mode to be 0, 1 or 2, but got ",
               args.padding_mode);
}

/// The input elements (taps) that each position reads along one dimension: indices, whether they
/// are inside the input, weights and the weights' derivatives (slopes).
struct TensorTaps {
  Tensor index[4], inside[4], weight[4], slope[4];
};

/// Returns x moved into the input by the padding mode, and the derivative.
std::pair<Tensor, Tensor> apply_padding(const Tensor& x, double size, const GridSamplerArgs& args) {
  if (args.padding_mode == 0) return {x, ones_like(x)};
  const NoGradGuard off;
  Tensor moved = x, slope = ones_like(x);
  if (args.padding_mode == 2) {
    const double low = args.align_corners ? 0 : -0.5, span = args.align_corners ? size - 1 : size;
    const Tensor sign = where(x.lt(low), -slope, slope), distance = (x - low) * sign;
    const Tensor flips = span > 0 ? (distance / span).floor() : zeros_like(x);
    const Tensor even = flips.fmod(2).eq(0), rest = span > 0 ? distance.fmod(span) : flips;
    slope = where(even, sign, -sign);
    moved = where(even, rest + low, span - rest + low);
  }
  const Tensor is_inside = moved.gt(0).logical_and(moved.lt(size - 1));
  return {where(moved.gt(0), moved.clamp_max(size - 1), zeros_like(x)), slope * is_inside};
}

/// The taps of positions, given by their coordinates in `grid`, along a dimension of `length`
/// elements.
TensorTaps tensor_taps(const Tensor& grid, int64_t length, const GridSamplerArgs& args) {
  constexpr double a = -0.75;  // of cubic convolution
  const double size = double(length), unit = (args.align_corners ? size - 1 : size) / 2;
  const Tensor raw = (grid + 1) * unit - (args.align_corners ? 0 : 0.5);
  TensorTaps taps;
  const auto set_index = [&](int k, const Tensor& position) {
    taps.inside[k] = position.gt(-1).logical_and(position.lt(size));
    taps.index[k] = where(taps.inside[k], position, zeros_like(position)).to(kLong);
  };
  if (args.interpolation_mode == 2) {
    const Tensor before = raw.detach().floor(), t = raw - before;
    for (int k = 0; k < 4; ++k) {
      set_index(k, apply_padding(before + (k - 1), size, args).first);
      const Tensor x = k < 2 ? t + (1 - k) : (k - 1) - t;
      const bool is_near = k == 1 || k == 2;
      taps.weight[k] =
          is_near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
      taps.slope[k] =
          (is_near ? (3 * (a + 2) * x - 2 * (a + 3)) * x : (3 * a * x - 10 * a) * x + 8 * a) *
          (k < 2 ? unit : -unit);
    }
    return taps;
  }
  const auto [value, slope] = apply_padding(raw.detach(), size, args);
  const Tensor x = slope * (raw - raw.detach()) + value;
  const Tensor before = args.interpolation_mode == 1 ? value.round() : value.floor();
  for (int k = 0; k < args.rule().taps(); ++k) {
    set_index(k, before + k);
    const bool is_nearest = args.interpolation_mode == 1;
    taps.weight[k] = is_nearest ? ones_like(x) : k == 0 ? 1 - (x - before) : x - before;
    taps.slope[k] = is_nearest ? zeros_like(x) : slope * (k == 0 ? -unit : unit);
  }
  return taps;
}

/// The two gradients by differentiable ops; in: grad_output, input, grid.
std::vector<Tensor> composed_gradients(const GridSamplerArgs& args, const Tensor* in) {
  const Tensor grad = in[0].flatten(2), input = in[1].flatten(2);
  const int64_t dims = in[1].dim() - 2, samples = input.size(0), channels = input.size(1);
  TensorTaps axes[3];
  for (int64_t d = 0; d < dims; ++d)
    axes[d] = tensor_taps(in[2].select(-1, d).flatten(1), in[1].size(1 + dims - d), args);
  Tensor grad_input = zeros_like(input), grad_axes[3];
  const int n = args.rule().taps();
  for (int tap = 0; tap < (dims == 3 ? n * n * n : n * n); ++tap) {
    const int axis_taps[3] = {tap % n, tap / n % n, tap / n / n};
    // The weight is the product of the axes' weights, slope[d] its derivative along axis d.
    Tensor index, weight, slope[3];
    for (int64_t d = dims - 1; d >= 0; --d) {
      const TensorTaps& axis = axes[d];
      const Tensor inside = axis.inside[axis_taps[d]].to(in[1].scalar_type());
      const Tensor w = axis.weight[axis_taps[d]] * inside, s = axis.slope[axis_taps[d]] * inside;
      for (int64_t other = dims - 1; other > d; --other) slope[other] = slope[other] * w;
      slope[d] = weight.defined() ? weight * s : s;
      weight = weight.defined() ? weight * w : w;
      index = index.defined() ? index * in[1].size(1 + dims - d) + axis.index[axis_taps[d]]
                              : axis.index[axis_taps[d]];
    }
    const Tensor source = index.unsqueeze(1).expand({samples, channels, index.size(1)});
    grad_input = grad_input.scatter_add(2, source, grad * weight.unsqueeze(1));
    const Tensor dot = (grad * input.gather(2, source)).sum({{1}});
    for (int64_t d = 0; d < dims; ++d)
      grad_axes[d] = grad_axes[d].defined() ? grad_axes[d] + dot * slope[d] : dot * slope[d];
  }
  std::vector<Tensor> parts(grad_axes, grad_axes + dims);
  return {grad_input.view(in[1].sizes()), stack(parts, -1).view(in[2].sizes())};
}

/// Inputs: grad_output, input, grid.
template <int dims>
struct GridSamplerBackward {
  struct Args {
    GridSamplerArgs sampler;
    SlotSet wanted;
    HEARTH_FIELDS(sampler, wanted)
  };
  static constexpr OpInfo info{
      .name = dims == 2 ? "grid_sampler_2d_backward" : "grid_sampler_3d_backward",
      .node = dims == 2 ? "GridSampler2DBackward" : "GridSampler3DBackward",
      .arguments = "grad_output,input,grid",
      .dtypes = dtypes::kFloating,
      .saves = in_slot(0) | in_slot(1) | in_slot(2),
      .outputs = 2};
  static void infer(const Args& args, InferContext& context) {
    if (context.in(0).device.is_cuda())  // adds with atomics
      Context::alertNotDeterministic(dims == 2 ? "grid_sampler_2d_backward_cuda"
                                               : "grid_sampler_3d_backward_cuda");
    for (int i = 0; i < 2; ++i) context.set(i, context.in(i + 1).sizes(), context.in(i + 1).dtype);
    context.keep_only(args.wanted);
  }
  static void launch(const Args& args, LaunchContext& context) {
    GridSamplerBackwardParams params;
    params.grad_out = context.in(0);
    params.in = context.in(1);
    params.grid = context.in(2);
    params.grad_in = context.out(0);
    params.grad_grid = context.out(1);
    params.rule = args.sampler.rule();
    params.dims = dims;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    composed_gradient(context, 3,
                      [&](const Tensor* in) { return composed_gradients(args.sampler, in); });
  }
};

/// Inputs: input, grid.
template <int dims>
struct GridSampler {
  using Args = GridSamplerArgs;
  static constexpr OpInfo info{.name = dims == 2 ? "grid_sampler_2d" : "grid_sampler_3d",
                               .node = dims == 2 ? "GridSampler2D" : "GridSampler3D",
                               .arguments = "input,grid",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(0) | in_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &input = context.in(0), &grid = context.in(1);
    check_modes(args);
    check_sizes(input, grid);
    check_rank(input.sizes(), grid.sizes(), dims + 2);
    HEARTH_CHECK(input.dtype == grid.dtype, "expected scalar type ", name_of(input.dtype),
                 " but found ", name_of(grid.dtype));
    Dims sizes(input.sizes());
    for (size_t d = 2; d < sizes.size(); ++d) sizes[d] = grid.sizes()[d - 1];
    context.set(0, sizes, input.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    GridSamplerParams params;
    params.in = context.in(0);
    params.grid = context.in(1);
    params.out = context.out();
    params.rule = args.rule();
    params.dims = dims;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.grad().defined()) return;
    context.set_wanted(invoke<GridSamplerBackward<dims>>({args, context.wanted()}, context.grad(),
                                                         context.in(0), context.in(1))
                           .all());
  }
};

struct GridSamplerOp {
  using Args = GridSamplerArgs;
  static constexpr OpInfo info{
      .name = "grid_sampler", .amp = Amp::kWidest, .amp_cpu = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& input, const Tensor& grid) {
    check_sizes(impl_of(input), impl_of(grid));
    HEARTH_CHECK(input.dim() == 4 || input.dim() == 5,
                 "grid_sampler(): expected 4D or 5D input, but got input with sizes ",
                 input.sizes());
    check_rank(input.sizes(), grid.sizes(), size_t(input.dim()));
    return input.dim() == 4 ? invoke<GridSampler<2>>(args, input, grid).call()
                            : invoke<GridSampler<3>>(args, input, grid).call();
  }
};

struct AffineGridGenerator {
  struct Args {
    Dims size;
    bool align_corners;
    HEARTH_FIELDS(size, align_corners)
  };
  static constexpr OpInfo info{.name = "affine_grid_generator", .arguments = "theta"};

  /// The coordinates of `num_elements` elements between -1 and 1.
  static Tensor centres(const Tensor& theta, int64_t num_elements, bool align_corners) {
    const TensorOptions options = theta.options().requires_grad(false);
    if (num_elements <= 1) return zeros({num_elements}, options);
    const Tensor coordinates = linspace(-1, 1, num_elements, options);
    return align_corners
               ? coordinates
               : (coordinates * (num_elements - 1) / num_elements).to(theta.scalar_type());
  }
  static Tensor compute(const Args& args, const Tensor& theta) {
    const size_t rank = args.size.size();
    HEARTH_CHECK(rank == 4 || rank == 5,
                 "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
    const int64_t dims = int64_t(rank) - 2;
    Dims sizes;  // of the output's spatial dimensions
    for (size_t d = 2; d < rank; ++d) sizes.push_back(args.size[d]);
    std::vector<Tensor> parts;  // x, y, (z,) 1
    for (int64_t d = dims - 1; d >= 0; --d) {
      Dims shape(sizes);
      for (int64_t other = 0; other < dims; ++other) shape[size_t(other)] = other == d ? -1 : 1;
      parts.push_back(
          centres(theta, sizes[size_t(d)], args.align_corners).view(shape).expand(sizes));
    }
    parts.push_back(ones(sizes, theta.options().requires_grad(false)));
    Dims result{args.size[0]};
    int64_t positions = 1;
    for (const int64_t size : sizes) {
      result.push_back(size);
      positions *= size;
    }
    result.push_back(dims);
    return stack(parts, -1)
        .view({1, positions, dims + 1})
        .expand({args.size[0], positions, dims + 1})
        .bmm(theta.transpose(1, 2))
        .view(result);
  }
};

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                    int64_t padding_mode, bool align_corners) {
  check_defined("grid_sampler", 0, "input", input);
  check_defined("grid_sampler", 1, "grid", grid);
  return compose<GridSamplerOp>({interpolation_mode, padding_mode, align_corners}, input, grid);
}
HEARTH_DEFINE_FUNCTION(grid_sampler_2d,
                       (const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                        int64_t padding_mode, bool align_corners),
                       invoke<GridSampler<2>>({interpolation_mode, padding_mode, align_corners},
                                              input, grid))
HEARTH_DEFINE_FUNCTION(grid_sampler_3d,
                       (const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                        int64_t padding_mode, bool align_corners),
                       invoke<GridSampler<3>>({interpolation_mode, padding_mode, align_corners},
                                              input, grid))

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  check_defined("affine_grid_generator", 0, "theta", theta);
  return compose<AffineGridGenerator>({size, align_corners}, theta);
}
HEARTH_DEFINE_WRITE_OUT(affine_grid_generator,
                        (const Tensor& theta, IntArrayRef size, bool align_corners),
                        affine_grid_generator(theta, size, align_corners))

}  // namespace hearth
