#include "seam/conv.h"

#include <algorithm>

#include "functors/arithmetic.h"
#include "functors/reduction.h"
#include "hearth/autograd.h"
#include "ops/conv_shape.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "seam/reduce.h"

namespace hearth {

namespace {

ConvParams conv_params(const ConvArgs& args, ConvPart part) {
  ConvParams params;
  params.part = part;
  params.groups = args.groups;
  for (size_t d = 0; d < args.stride.size(); ++d) {
    params.stride[d] = args.stride[d];
    params.padding[d] = args.padding[d];
    params.dilation[d] = args.dilation[d];
  }
  return params;
}

/// Computes the tensor that `params.part` names. Empty sums of products are 0, or the bias.
void run_conv(const ConvParams& params, Ctx& ctx) {
  const View& target = params.computed();
  if (target.numel == 0) return;
  if (params.in.numel > 0 && params.weight.numel > 0 && params.out.numel > 0)
    return run_kernel(ctx, params);
  if (!params.bias.defined()) return run_fill(ctx, target, 0);
  View expanded_bias = target;
  expanded_bias.data = params.bias.data;
  std::fill_n(expanded_bias.strides, expanded_bias.dim, 0);
  expanded_bias.strides[1] = params.bias.strides[0];
  run_copy(ctx, target, expanded_bias);
}

void run_bias_gradient(const View& grad_out, const View& grad_bias, Ctx& ctx) {
  if (grad_out.numel == 0) return run_fill(ctx, grad_bias, 0);
  View out = grad_out;
  out.data = grad_bias.data;
  out.numel = grad_bias.numel;
  for (int d = 0; d < out.dim; ++d) {
    if (d != 1) out.sizes[d] = 1;
    out.strides[d] = d == 1 ? grad_bias.strides[0] : 0;
  }
  if (grad_bias.numel > 0) run_kernel(ctx, reduce_params(fn::Sum{}, grad_out, out));
}

/// Sets output i, in channels_last if one of the inputs is.
void set_output(InferContext& context, int i, const Dims& sizes, ScalarType dtype) {
  bool channels_last = false;
  for (int k = 0; k < 3; ++k)
    channels_last |= context.has(k) && has_channels_last_strides(context.in(k));
  set_in_format(context, i, sizes, dtype, channels_last);
}

/// The gradients with respect to input, weight and bias. Inputs: grad_out, input, weight; the last
/// two may be undefined if no wanted gradient reads them.
struct ConvolutionBackward {
  struct Args {
    ConvArgs conv;
    Dims input_sizes, weight_sizes;
    SlotSet wanted;  // the gradients to compute
    HEARTH_FIELDS(conv, input_sizes, weight_sizes, wanted)
    bool wants(int i) const { return (wanted & in_slot(i)) != 0; }
  };
  static constexpr OpInfo info{.name = "convolution_backward",
                               .arguments = "grad_output,input,weight",
                               .dtypes = dtypes::kFloating,
                               .optional = in_slot(1) | in_slot(2),
                               .outputs = 3};
  static void infer(const Args& args, InferContext& context) {
    const ScalarType dtype = context.in(0).dtype;
    set_output(context, 0, args.input_sizes, dtype);
    set_output(context, 1, args.weight_sizes, dtype);
    const int64_t out_channels =
        args.conv.transposed ? context.in(0).sizes()[1] : args.weight_sizes[0];
    context.set(2, Dims{out_channels}, dtype);
    context.keep_only(args.wanted);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const bool transposed = args.conv.transposed;
    if (args.wants(0)) {
      ConvParams params = conv_params(args.conv, transposed ? ConvPart::kOut : ConvPart::kIn);
      params.in = transposed ? context.in(0) : context.out(0);
      params.out = transposed ? context.out(0) : context.in(0);
      params.weight = context.in(2);
      run_conv(params, context.ctx);
    }
    if (args.wants(1)) {
      ConvParams params = conv_params(args.conv, ConvPart::kWeight);
      params.in = context.in(transposed ? 0 : 1);
      params.out = context.in(transposed ? 1 : 0);
      params.weight = context.out(1);
      run_conv(params, context.ctx);
    }
    if (args.wants(2)) run_bias_gradient(context.in(0), context.out(2), context.ctx);
  }
  static SlotSet saves(const Args& args, SlotSet needs) {
    SlotSet read = 0;
    if (needs & (in_slot(1) | in_slot(2))) read |= in_slot(0);
    if ((needs & in_slot(0)) && args.wants(0)) read |= in_slot(2);
    if ((needs & in_slot(0)) && args.wants(1)) read |= in_slot(1);
    return read;
  }
  static void grad(const Args& args, GradContext& context);
};

/// Inputs: input, weight, bias.
struct Convolution {
  using Args = ConvArgs;
  static constexpr OpInfo info{.name = "convolution",
                               .arguments = "input,weight,bias",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kLower,
                               .amp_cpu = Amp::kKeep,
                               .shapes = in_slot(0) | in_slot(1),
                               .optional = in_slot(2)};
  static void infer(const Args& args, InferContext& context) {
    check_conv(args, context.in(0), context.in(1), context.has(2) ? &context.in(2) : nullptr);
    set_output(context, 0, conv_sizes(args, context.in(0).sizes(), context.in(1).sizes()),
               context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    ConvParams params = conv_params(args, args.transposed ? ConvPart::kIn : ConvPart::kOut);
    params.in = args.transposed ? context.out() : context.in(0);
    params.out = args.transposed ? context.in(0) : context.out();
    params.weight = context.in(1);
    params.bias = context.in(2);
    run_conv(params, context.ctx);
  }
  static SlotSet saves(const Args&, SlotSet needs) {
    return (needs & in_slot(0) ? in_slot(1) : 0u) | (needs & in_slot(1) ? in_slot(0) : 0u);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set_wanted(
        invoke<ConvolutionBackward>(
            {args, context.in_shape(0).sizes(), context.in_shape(1).sizes(), context.wanted()},
            context.grad(), context.needs(1) ? context.in(0) : Tensor(),
            context.needs(0) ? context.in(1) : Tensor())
            .all());
  }
};

/// The gradients of input and weight are convolutions of two of grad_out, input and weight, so
/// their own gradients are convolutions again; the bias's gradient is a sum over grad_out.
void ConvolutionBackward::grad(const Args& args, GradContext& context) {
  const auto convolved = [&](const Tensor& input, const Tensor& weight) {
    return invoke<Convolution>(args.conv, input, weight, Tensor()).call();
  };
  const auto backward = [&](int i, const Tensor& input, const Tensor& weight) {
    const Args single{args.conv, args.input_sizes, args.weight_sizes, in_slot(i)};
    return invoke<ConvolutionBackward>(single, context.in(0), input, weight).all()[size_t(i)];
  };
  // The gradients of the outputs, which are gradients of input, weight and bias themselves.
  const Tensor &in = context.grad(0), &weight = context.grad(1), &bias = context.grad(2);
  if (context.needs(0)) {
    Tensor sum;
    const auto add = [&sum](const Tensor& t) { sum = sum.defined() ? sum.add(t) : t; };
    if (in.defined()) add(convolved(in, context.in(2)));
    if (weight.defined()) add(convolved(context.in(1), weight));
    if (bias.defined()) {
      Dims sizes(context.in_sizes(0).size(), 1);
      sizes[1] = bias.numel();
      add(bias.reshape(sizes).expand(context.in_sizes(0)));
    }
    if (sum.defined()) context.set(0, sum);
  }
  if (context.needs(1) && weight.defined()) context.set(1, backward(0, {}, weight));
  if (context.needs(2) && in.defined()) context.set(2, backward(1, in, {}));
}

Tensor convolve(const ConvArgs& args, const Tensor& input, const Tensor& weight,
                const Tensor& bias) {
  check_conv_types(input, weight, bias);
  if (input.defined() && weight.defined() && is_integral(input.scalar_type(), false))
    return convolve_integers(args, input, weight, bias);
  return invoke<Convolution>(args, input, weight, bias).call();
}

/// Calls convolution(batch): an unbatched input becomes a batch of one.
template <class F>
Tensor with_batch(const char* op, size_t spatial, const Tensor& input, F convolution) {
  const size_t dim = size_t(input.dim());
  HEARTH_CHECK(dim == spatial + 1 || dim == spatial + 2, "Expected ", spatial + 1,
               "D (unbatched) or ", spatial + 2, "D (batched) input to ", op,
               ", but got input of size: ", input.sizes());
  return dim == spatial + 2 ? convolution(input) : convolution(input.unsqueeze(0)).squeeze(0);
}

struct ConvNames {
  static constexpr const char* kPlain[] = {"", "conv1d", "conv2d", "conv3d"};
  static constexpr const char* kTransposed[] = {"", "conv_transpose1d", "conv_transpose2d",
                                                "conv_transpose3d"};
};

constexpr OpInfo composed_info(const char* name, const char* overload = "") {
  return {.name = name, .overload = overload, .amp = Amp::kLower, .optional = in_slot(2)};
}

/// conv1d, conv2d and conv3d, or their transposes.
template <int spatial, bool transposed>
struct ConvOp {
  using Args = ConvArgs;
  static constexpr OpInfo info =
      composed_info(transposed ? ConvNames::kTransposed[spatial] : ConvNames::kPlain[spatial]);
  static Tensor compute(const Args& args, const Tensor& input, const Tensor& weight,
                        const Tensor& bias) {
    return with_batch(info.name, spatial, input, [&](const Tensor& batch) {
      return convolve(fitted(args, weight), batch, weight, bias);
    });
  }
};

/// conv1d, conv2d and conv3d with padding 'same' or 'valid'; if the total padding is odd, the extra
/// zero comes after the input.
template <int spatial>
struct PaddedConvOp {
  struct Args {
    ConvArgs conv;
    std::string padding;
    HEARTH_FIELDS(conv, padding)
  };
  static constexpr OpInfo info = composed_info(ConvNames::kPlain[spatial], "padding");
  static Tensor compute(const Args& args, const Tensor& input, const Tensor& weight,
                        const Tensor& bias) {
    HEARTH_CHECK(args.padding == "same" || args.padding == "valid", "Invalid padding string: '",
                 args.padding, "'");
    return with_batch(info.name, spatial, input, [&](const Tensor& batch) {
      ConvArgs conv = fitted(args.conv, weight);
      if (args.padding == "valid" || weight.dim() != batch.dim())
        return convolve(conv, batch, weight, bias);
      for (const int64_t step : conv.stride)
        HEARTH_CHECK(step == 1, "padding='same' is not supported for strided convolutions");
      Tensor padded = batch;
      for (size_t d = 0; d < conv.padding.size(); ++d) {
        const int64_t total = conv.dilation[d] * (weight.size(int64_t(d) + 2) - 1);
        conv.padding[d] = std::max<int64_t>(total / 2, 0);
        if (total <= 0 || total % 2 == 0) continue;
        Dims sizes(padded.sizes());
        sizes[d + 2] = 1;
        padded = cat({padded, zeros(sizes, padded.options())}, int64_t(d) + 2);
      }
      return convolve(conv, padded, weight, bias);
    });
  }
};

}  // namespace

#define HEARTH_CONV(n)                                                                            \
  Tensor conv##n##d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, \
                    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,                \
                    int64_t groups) {                                                             \
    return compose<ConvOp<n, false>>({stride, padding, dilation, IntArrayRef(0), false, groups},  \
                                     input, weight, or_undefined(bias));                          \
  }                                                                                               \
  Tensor conv##n##d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, \
                    IntArrayRef stride, PaddingName padding, IntArrayRef dilation,                \
                    int64_t groups) {                                                             \
    const ConvArgs args{stride, IntArrayRef(0), dilation, IntArrayRef(0), false, groups};         \
    return compose<PaddedConvOp<n>>({args, std::string(padding.name())}, input, weight,           \
                                    or_undefined(bias));                                          \
  }                                                                                               \
  Tensor conv_transpose##n##d(const Tensor& input, const Tensor& weight,                          \
                              const std::optional<Tensor>& bias, IntArrayRef stride,              \
                              IntArrayRef padding, IntArrayRef output_padding, int64_t groups,    \
                              IntArrayRef dilation) {                                             \
    return compose<ConvOp<n, true>>({stride, padding, dilation, output_padding, true, groups},    \
                                    input, weight, or_undefined(bias));                           \
  }
HEARTH_CONV(1)
HEARTH_CONV(2)
HEARTH_CONV(3)
#undef HEARTH_CONV

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  return convolve(fitted({stride, padding, dilation, output_padding, transposed, groups}, weight),
                  input, weight, or_undefined(bias));
}

}  // namespace hearth
