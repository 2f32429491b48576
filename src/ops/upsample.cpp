#include "seam/upsample.h"

#include <algorithm>

#include "ops/copy.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// The properties of an op; `node` names the forward op's grad_fn.
struct UpsampleProperties {
  const char *name, *node, *backward, *backward_node;
  UpsampleMode mode;
  int dims;
  bool accepts_uint8;
  Amp amp;  // on CUDA
};
#define HEARTH_UPSAMPLE(name, node, ...) \
  { #name, #node, #name "_backward", #node "Backward", __VA_ARGS__ }
constexpr UpsampleProperties kProperties[] = {
    HEARTH_UPSAMPLE(upsample_nearest1d, UpsampleNearest1D, UpsampleMode::kNearest, 1, true,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(upsample_nearest2d, UpsampleNearest2D, UpsampleMode::kNearest, 2, true,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(upsample_nearest3d, UpsampleNearest3D, UpsampleMode::kNearest, 3, true,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(_upsample_nearest_exact1d, UpsampleNearestExact1D, UpsampleMode::kNearestExact,
                    1, true, Amp::kKeep),
    HEARTH_UPSAMPLE(_upsample_nearest_exact2d, UpsampleNearestExact2D, UpsampleMode::kNearestExact,
                    2, true, Amp::kKeep),
    HEARTH_UPSAMPLE(_upsample_nearest_exact3d, UpsampleNearestExact3D, UpsampleMode::kNearestExact,
                    3, true, Amp::kKeep),
    HEARTH_UPSAMPLE(upsample_linear1d, UpsampleLinear1D, UpsampleMode::kLinear, 1, false,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(upsample_bilinear2d, UpsampleBilinear2D, UpsampleMode::kLinear, 2, true,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(upsample_trilinear3d, UpsampleTrilinear3D, UpsampleMode::kLinear, 3, false,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(upsample_bicubic2d, UpsampleBicubic2D, UpsampleMode::kCubic, 2, true,
                    Amp::kFloat32),
    HEARTH_UPSAMPLE(_upsample_bilinear2d_aa, UpsampleBilinear2DAa, UpsampleMode::kLinearAntialias,
                    2, true, Amp::kKeep),
    HEARTH_UPSAMPLE(_upsample_bicubic2d_aa, UpsampleBicubic2DAa, UpsampleMode::kCubicAntialias, 2,
                    true, Amp::kKeep),
};
#undef HEARTH_UPSAMPLE

/// Indices into kProperties.
enum UpsampleOp {
  kNearest1d,
  kNearest2d,
  kNearest3d,
  kNearestExact1d,
  kNearestExact2d,
  kNearestExact3d,
  kLinear1d,
  kBilinear2d,
  kTrilinear3d,
  kBicubic2d,
  kBilinear2dAa,
  kBicubic2dAa
};

using Scale = std::optional<double>;

struct UpsampleArgs {
  Dims output_size;
  bool align_corners;
  Scale scales_d, scales_h, scales_w;
  HEARTH_FIELDS(output_size, align_corners, scales_d, scales_h, scales_w)
};

/// "D: 4, H: 5, W: 6", the sizes of the last dimensions.
std::string named_sizes(const int64_t* sizes, int dims) {
  constexpr const char* kNames[] = {"D: ", ", H: ", ", W: "};
  std::string text;
  for (int d = 0; d < dims; ++d) {
    const char* name = kNames[3 - dims + d];
    text += detail::str(d == 0 && *name == ',' ? name + 2 : name, sizes[d]);
  }
  return text;
}

/// The output's sizes; throws PyTorch's errors.
Dims upsampled_sizes(const UpsampleArgs& args, size_t dims, IntArrayRef input) {
  HEARTH_CHECK(args.output_size.size() == dims, "It is expected output_size equals to ", dims,
               ", but got size ", args.output_size.size());
  HEARTH_CHECK(input.size() == dims + 2, "It is expected input_size equals to ", dims + 2,
               ", but got size ", input.size());
  Dims sizes(input);
  bool is_positive = true;
  for (size_t d = 0; d < dims; ++d) {
    sizes[d + 2] = args.output_size[d];
    is_positive = is_positive && sizes[d + 2] > 0 && input[d + 2] > 0;
  }
  HEARTH_CHECK(is_positive, "Input and output sizes should be greater than 0, but got input (",
               named_sizes(input.begin() + 2, int(dims)), ")", dims == 1 ? " and" : "", " output (",
               named_sizes(sizes.begin() + 2, int(dims)), ")");
  HEARTH_CHECK(input[1] != 0, "Non-empty ", dims + 2,
               "D data tensor expected but got a tensor with sizes ", input);
  return sizes;
}

/// Whether PyTorch computes positions from the sizes even if a scale is given.
bool ignores_scale(const UpsampleProperties& properties, int64_t in, int64_t out,
                   ScalarType dtype) {
  if (properties.mode == UpsampleMode::kNearest)
    return properties.dims == 2 && (in == out || 2 * in == out);
  if (properties.mode == UpsampleMode::kNearestExact) return false;
  return in == out && (properties.mode != UpsampleMode::kCubic || dtype == kByte);
}

UpsampleParams params_of(const UpsampleProperties& properties, const UpsampleArgs& args,
                         IntArrayRef input_sizes, const LaunchContext& context) {
  UpsampleParams params;
  params.in = context.in(0);
  params.out = context.out();
  params.dims = properties.dims;
  const Scale scales[] = {args.scales_d, args.scales_h, args.scales_w};
  for (int d = 0; d < properties.dims; ++d) {
    UpsampleAxis& axis = params.axes[d];
    axis.in = input_sizes[size_t(d) + 2];
    axis.out = args.output_size[size_t(d)];
    axis.mode = properties.mode;
    if (!ignores_scale(properties, axis.in, axis.out, params.in.dtype))
      axis.scale = scales[3 - properties.dims + d].value_or(0);
    axis.align_corners = args.align_corners;
  }
  return params;
}

template <UpsampleOp op>
struct Upsample;

/// Input: the gradient of the output.
template <UpsampleOp op>
struct UpsampleBackward {
  struct Args {
    UpsampleArgs upsample;
    Dims input_size;
    HEARTH_FIELDS(upsample, input_size)
  };
  static constexpr OpInfo info{.name = kProperties[op].backward,
                               .node = kProperties[op].backward_node,
                               .arguments = "grad_output",
                               .dtypes = dtypes::kFloating};
  static void infer(const Args& args, InferContext& context) {
    set_in_format(context, 0, args.input_size, context.in(0).dtype,
                  has_channels_last_strides(context.in(0)));
  }
  static void launch(const Args& args, LaunchContext& context) {
    UpsampleParams params = params_of(kProperties[op], args.upsample, args.input_size, context);
    params.transposed = true;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0))
      context.set(0, invoke<Upsample<op>>(args.upsample, context.grad()).call());
  }
};

template <UpsampleOp op>
struct Upsample {
  using Args = UpsampleArgs;
  static constexpr OpInfo info{
      .name = kProperties[op].name,
      .node = kProperties[op].node,
      .dtypes = dtypes::kFloating | (kProperties[op].accepts_uint8 ? 1u << unsigned(kByte) : 0u),
      .amp = kProperties[op].amp,
      .amp_cpu = Amp::kKeep,
      .shapes = in_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    set_in_format(context, 0, upsampled_sizes(args, size_t(kProperties[op].dims), in.sizes()),
                  in.dtype, has_channels_last_strides(in));
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, params_of(kProperties[op], args, context.in_impl(0).sizes(), context));
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.needs(0) || !context.grad().defined()) return;
    context.set(
        0,
        invoke<UpsampleBackward<op>>({args, context.in_shape(0).sizes()}, context.grad()).call());
  }
};

/// The arguments of an overload with either output_size or factors.
UpsampleArgs sized_args(const char* op, const Tensor& input, OptionalIntArrayRef output_size,
                        bool align_corners, const std::optional<ArrayRef<double>>& factors) {
  check_defined(op, 0, "input", input);
  const auto check = [](bool holds, const char* rule) {
    HEARTH_CHECK(holds, "Expected static_cast<int64_t>(", rule,
                 "->size()) == spatial_dimensions to be true, but got false.  (Could this error "
                 "message be improved?  If so, please report an enhancement request to PyTorch.)");
  };
  const IntArrayRef sizes = input.sizes();
  const size_t dims = sizes.size() - std::min<size_t>(sizes.size(), 2);
  HEARTH_CHECK(output_size.has_value() != factors.has_value(),
               "Must specify exactly one of output_size and scale_factors");
  if (output_size) {
    check(output_size->size() == dims, "output_size");
    return {*output_size, align_corners, {}, {}, {}};
  }
  check(factors->size() == dims, "scale_factors");
  Dims wanted;
  for (size_t d = 0; d < dims; ++d) {
    const double size = double(sizes[d + 2]) * (*factors)[d];
    HEARTH_CHECK(size > -0x1p63 && size < 0x1p63,
                 "value cannot be converted to type int64_t without overflow");
    wanted.push_back(int64_t(size));
  }
  const auto scale = [&](size_t from_last) {
    return dims > from_last ? Scale((*factors)[dims - 1 - from_last]) : Scale();
  };
  return {wanted, align_corners, scale(2), scale(1), scale(0)};
}

}  // namespace

// The overloads of one name: `more` is `, bool align_corners` or nothing, `align` its value,
// `scales` the parameters of the scales; the values of the scales follow.
#define HEARTH_DEFINE_UPSAMPLE(name, op, more, align, scales, ...)                              \
  HEARTH_DEFINE_FUNCTION(                                                                       \
      name, (const Tensor& self, IntArrayRef output_size HEARTH_LIST more, HEARTH_LIST scales), \
      invoke<Upsample<op>>({output_size, align, __VA_ARGS__}, self))                            \
  Tensor name(const Tensor& input, OptionalIntArrayRef output_size HEARTH_LIST more,            \
              std::optional<ArrayRef<double>> scale_factors) {                                  \
    return invoke<Upsample<op>>(sized_args(#name, input, output_size, align, scale_factors),    \
                                input)                                                          \
        .call();                                                                                \
  }
#define HEARTH_DEFINE_SIZED_OUT(name, op, more, align)                                       \
  Tensor& name##_out(Tensor& out, const Tensor& input,                                       \
                     OptionalIntArrayRef output_size HEARTH_LIST more,                       \
                     std::optional<ArrayRef<double>> scale_factors) {                        \
    return invoke<Upsample<op>>(sized_args(#name, input, output_size, align, scale_factors), \
                                input)                                                       \
        .out(out);                                                                           \
  }

HEARTH_DEFINE_UPSAMPLE(upsample_nearest1d, kNearest1d, (), false, (Scale scales), {}, {}, scales)
HEARTH_DEFINE_UPSAMPLE(upsample_nearest2d, kNearest2d, (), false, (Scale scales_h, Scale scales_w),
                       {}, scales_h, scales_w)
HEARTH_DEFINE_SIZED_OUT(upsample_nearest2d, kNearest2d, (), false)
HEARTH_DEFINE_UPSAMPLE(upsample_nearest3d, kNearest3d, (), false,
                       (Scale scales_d, Scale scales_h, Scale scales_w), scales_d, scales_h,
                       scales_w)
HEARTH_DEFINE_UPSAMPLE(_upsample_nearest_exact1d, kNearestExact1d, (), false, (Scale scales), {},
                       {}, scales)
HEARTH_DEFINE_UPSAMPLE(_upsample_nearest_exact2d, kNearestExact2d, (), false,
                       (Scale scales_h, Scale scales_w), {}, scales_h, scales_w)
HEARTH_DEFINE_UPSAMPLE(_upsample_nearest_exact3d, kNearestExact3d, (), false,
                       (Scale scales_d, Scale scales_h, Scale scales_w), scales_d, scales_h,
                       scales_w)
HEARTH_DEFINE_UPSAMPLE(upsample_linear1d, kLinear1d, (, bool align_corners), align_corners,
                       (Scale scales), {}, {}, scales)
HEARTH_DEFINE_UPSAMPLE(upsample_bilinear2d, kBilinear2d, (, bool align_corners), align_corners,
                       (Scale scales_h, Scale scales_w), {}, scales_h, scales_w)
HEARTH_DEFINE_SIZED_OUT(upsample_bilinear2d, kBilinear2d, (, bool align_corners), align_corners)
HEARTH_DEFINE_UPSAMPLE(upsample_trilinear3d, kTrilinear3d, (, bool align_corners), align_corners,
                       (Scale scales_d, Scale scales_h, Scale scales_w), scales_d, scales_h,
                       scales_w)
HEARTH_DEFINE_UPSAMPLE(upsample_bicubic2d, kBicubic2d, (, bool align_corners), align_corners,
                       (Scale scales_h, Scale scales_w), {}, scales_h, scales_w)
HEARTH_DEFINE_UPSAMPLE(_upsample_bilinear2d_aa, kBilinear2dAa, (, bool align_corners),
                       align_corners, (Scale scales_h, Scale scales_w), {}, scales_h, scales_w)
HEARTH_DEFINE_UPSAMPLE(_upsample_bicubic2d_aa, kBicubic2dAa, (, bool align_corners), align_corners,
                       (Scale scales_h, Scale scales_w), {}, scales_h, scales_w)

#undef HEARTH_DEFINE_UPSAMPLE
#undef HEARTH_DEFINE_SIZED_OUT

}  // namespace hearth
