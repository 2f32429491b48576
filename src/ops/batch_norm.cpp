#include "seam/batch_norm.h"

#include "hearth/autograd.h"
#include "ops/composed_gradient.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// Throws unless input i is undefined or has one element per channel of `in`, in the dtype of `in`
/// or in float32.
void check_channel(const InferContext& context, int i, const TensorImpl& in, const char* name) {
  if (!context.has(i)) return;
  const int64_t channels = in.sizes()[1];
  HEARTH_CHECK(context.in(i).numel == channels, name, " should contain ", channels,
               " elements not ", context.in(i).numel);
  HEARTH_CHECK(context.in(i).dim == 1, "TensorAccessor expected 1 dims but tensor has ",
               int(context.in(i).dim), " (", name, ")");
  HEARTH_CHECK(context.in(i).dtype == in.dtype || context.in(i).dtype == kFloat,
               "batch_norm: ", name, " has dtype ", name_of(context.in(i).dtype), ", expected ",
               name_of(in.dtype), " or Float");
}

/// The gradients with respect to input, weight and bias. Inputs: grad_out, input, weight,
/// running_mean, running_var, save_mean, save_invstd.
struct BatchNormBackward {
  struct Args {
    bool training;
    double eps;
    SlotSet wanted;  // the gradients to compute
    HEARTH_FIELDS(training, eps, wanted)
  };
  static constexpr OpInfo info{
      .name = "native_batch_norm_backward",
      .arguments = "grad_out,input,weight,running_mean,running_var,save_mean,save_invstd",
      .dtypes = dtypes::kFloating,
      .saves =
          in_slot(0) | in_slot(1) | in_slot(2) | in_slot(3) | in_slot(4) | in_slot(5) | in_slot(6),
      .optional = in_slot(2) | in_slot(3) | in_slot(4) | in_slot(5) | in_slot(6),
      .outputs = 3};
  static void check(const Args& args, const InferContext& context) {
    const TensorImpl &grad = context.in(0), &in = context.in(1);
    HEARTH_CHECK(in.dim >= 2 && grad.sizes().equals(in.sizes()) && grad.dtype == in.dtype,
                 info.name, ": expected a gradient like the input, ", in.sizes(), " of ",
                 name_of(in.dtype), ", got ", grad.sizes(), " of ", name_of(grad.dtype));
    constexpr const char* kNames[] = {"weight", "running_mean", "running_var", "save_mean",
                                      "save_invstd"};
    for (int i = 2; i < 7; ++i) {
      const bool is_saved = i >= 5;
      if (is_saved && !args.training) continue;
      check_channel(context, i, in, kNames[i - 2]);
      HEARTH_CHECK(!is_saved || (context.has(i) && context.in(i).dtype == wide_type(in.dtype)),
                   info.name, ": ", kNames[i - 2], " is not what the forward pass saved");
    }
  }
  static void infer(const Args& args, InferContext& context) {
    check(args, context);
    const TensorImpl& in = context.in(1);
    const ScalarType type = context.has(2) ? context.in(2).dtype : wide_type(in.dtype);
    set_in_format(context, 0, in.sizes(), in.dtype, has_channels_last_strides(in));
    for (int i = 1; i < 3; ++i) context.set(i, Dims{in.sizes()[1]}, type);
    context.keep_only(args.wanted);
  }
  static void launch(const Args& args, LaunchContext& context) {
    BatchNormBackwardParams params;
    params.grad_out = context.in(0);
    params.in = context.in(1);
    params.weight = context.in(2);
    params.running_mean = context.in(3);
    params.running_var = context.in(4);
    params.save_mean = context.in(5);
    params.save_invstd = context.in(6);
    params.grad_in = context.out(0);
    params.grad_weight = context.out(1);
    params.grad_bias = context.out(2);
    params.training = args.training;
    params.eps = args.eps;
    if (params.in.numel > 0) return run_kernel(context.ctx, params);
    run_fill(context.ctx, params.grad_weight, 0);
    run_fill(context.ctx, params.grad_bias, 0);
  }
  static void grad(const Args& args, GradContext& context);
};

/// Reshapes t to broadcast along the channels of `like`, in its dtype.
Tensor per_channel(const Tensor& t, const Tensor& like) {
  Dims sizes(size_t(like.dim()), 1);
  sizes[1] = t.numel();
  return t.reshape(sizes).to(like.scalar_type());
}

/// The backward pass composed of differentiable ops, for second derivatives.
std::vector<Tensor> backward_formula(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                     const Tensor& mean, const Tensor& var, double eps,
                                     bool training) {
  Dims reduced_dims;
  double count = 1;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d == 1) continue;
    reduced_dims.push_back(d);
    count *= double(input.size(d));
  }
  const OptionalIntArrayRef dims{IntArrayRef(reduced_dims)};
  const Tensor input_mean = training ? input.mean(dims, true) : per_channel(mean, input);
  const Tensor centred = input.sub(input_mean);
  const Tensor variance =
      training ? centred.mul(centred).mean(dims, true) : per_channel(var, input);
  const Tensor square = variance.add(eps), is_zero = square.eq(0);  // there a batch's invstd is 0
  const Tensor invstd =
      training ? square.masked_fill(is_zero, 1).rsqrt().masked_fill(is_zero, 0) : square.rsqrt();
  const Tensor normalized = centred.mul(invstd);
  const Tensor scaled = weight.defined() ? grad.mul(per_channel(weight, input)) : grad;
  const Tensor grad_in =
      !training ? scaled.mul(invstd)
                : scaled.sub(scaled.mean(dims, true))
                      .sub(normalized.mul(scaled.mul(normalized).sum(dims, true).div(count)))
                      .mul(invstd);
  return {grad_in, grad.mul(normalized).sum(dims), grad.sum(dims)};
}

void BatchNormBackward::grad(const Args& args, GradContext& context) {
  composed_gradient(context, 3, [&](const Tensor* in) {
    return backward_formula(in[0], in[1], in[2], context.in(3), context.in(4), args.eps,
                            args.training);
  });
}

/// Inputs: input, weight, bias, running_mean, running_var; outputs: result, save_mean, save_invstd.
/// Only training writes to the running statistics.
struct BatchNorm {
  struct Args {
    bool training;
    double momentum, eps;
    HEARTH_FIELDS(training, momentum, eps)
  };
  static constexpr OpInfo info{.name = "native_batch_norm",
                               .node = "NativeBatchNorm",
                               .arguments = "input,weight,bias,running_mean,running_var",
                               .dtypes = dtypes::kFloating,
                               .optional = in_slot(1) | in_slot(2) | in_slot(3) | in_slot(4),
                               .outputs = 3,
                               .non_differentiable = out_slot(1) | out_slot(2)};
  static SlotSet saves(const Args& args, SlotSet) {
    return in_slot(0) | in_slot(1) |
           (args.training ? out_slot(1) | out_slot(2) : in_slot(3) | in_slot(4));
  }
  static bool mutates(const Args& args, const Inputs&, int i) { return args.training && i >= 3; }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    HEARTH_CHECK(in.dim >= 2, "batch_norm: expected an input of at least 2 dimensions, got sizes ",
                 in.sizes());
    check_channel(context, 3, in, "running_mean");
    check_channel(context, 4, in, "running_var");
    check_channel(context, 1, in, "weight");
    check_channel(context, 2, in, "bias");
    HEARTH_CHECK(args.training || (context.has(3) && context.has(4)),
                 "Expected running_mean and running_var to be defined when training=False");
    set_in_format(context, 0, in.sizes(), in.dtype, has_channels_last_strides(in));
    for (int i = 1; i < 3; ++i)
      context.set(i, Dims{args.training ? in.sizes()[1] : 0}, wide_type(in.dtype));
  }
  static void launch(const Args& args, LaunchContext& context) {
    BatchNormParams params;
    params.in = context.in(0);
    params.out = context.out(0);
    params.weight = context.in(1);
    params.bias = context.in(2);
    params.running_mean = context.in(3);
    params.running_var = context.in(4);
    if (args.training) {
      params.save_mean = context.out(1);
      params.save_invstd = context.out(2);
    }
    params.training = args.training;
    params.momentum = args.momentum;
    params.eps = args.eps;
    if (params.in.numel > 0) run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    // The mode decides which statistics were saved.
    const auto batch = [&](int i) { return args.training ? context.out(i) : Tensor(); };
    const auto running = [&](int i) { return args.training ? Tensor() : context.in(i); };
    context.set_wanted(invoke<BatchNormBackward>({args.training, args.eps, context.wanted()},
                                                 context.grad(), context.in(0), context.in(1),
                                                 running(3), running(4), batch(1), batch(2))
                           .all());
  }
};

/// Flattens weight or bias, which may have any shape with one element per channel.
Tensor flattened(const Tensor& t) {
  return t.defined() && t.dim() != 1 ? t.reshape({t.numel()}) : t;
}

void check_both_or_neither(const Tensor& running_mean, const Tensor& running_var) {
  HEARTH_CHECK_AS(ValueError, running_mean.defined() == running_var.defined(),
                  "running_mean and running_var must either both be None or neither be None");
}

/// Checks the running statistics, which are not differentiable.
void check_running(const Tensor& running_mean, const Tensor& running_var) {
  check_both_or_neither(running_mean, running_var);
  check_no_gradient(running_mean, "native_batch_norm", "running_mean");
  check_no_gradient(running_var, "native_batch_norm", "running_var");
}

}  // namespace

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
                  const std::optional<Tensor>& var, bool training, double momentum, double eps,
                  bool) {
  const Tensor &running_mean = or_undefined(mean), &running_var = or_undefined(var);
  HEARTH_CHECK(input.defined(), "batch_norm: the input is undefined");
  check_running(running_mean, running_var);
  return invoke<BatchNorm>({training, momentum, eps}, input, flattened(or_undefined(weight)),
                           flattened(or_undefined(bias)), running_mean, running_var)
      .call();
}

TensorTriple native_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
                               const std::optional<Tensor>& var, bool training, double momentum,
                               double eps) {
  check_defined("native_batch_norm", 0, "input", input);
  const Tensor &running_mean = or_undefined(mean), &running_var = or_undefined(var);
  check_running(running_mean, running_var);
  return invoke<BatchNorm>({training, momentum, eps}, input, flattened(or_undefined(weight)),
                           flattened(or_undefined(bias)), running_mean, running_var)
      .triple();
}

namespace {

struct InstanceNorm {
  struct Args {
    bool use_input_stats;
    double momentum, eps;
    HEARTH_FIELDS(use_input_stats, momentum, eps)
  };
  static constexpr OpInfo info{.name = "instance_norm"};
  /// Calls batch_norm on one sample that has the channels of all samples: [1, samples * channels,
  /// ...].
  static Tensor compute(const Args& args, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, const Tensor& running_mean, const Tensor& running_var) {
    const int64_t samples = input.size(0), channels = input.size(1);
    const auto repeat = [&](const Tensor& t) {
      return t.defined() ? t.expand({samples, t.numel()}).reshape({-1}) : t;
    };
    Dims sizes(input.sizes());
    sizes[0] = 1;
    sizes[1] = samples * channels;
    const auto copies = [&](const Tensor& t) { return t.defined() ? t.repeat({samples}) : t; };
    const Tensor mean = copies(running_mean), var = copies(running_var);
    const Tensor out = batch_norm(input.reshape(sizes), repeat(weight), repeat(bias), mean, var,
                                  args.use_input_stats, args.momentum, args.eps);
    const auto update = [&](const Tensor& running, const Tensor& updated) {
      const NoGradGuard off;
      if (running.defined() && args.use_input_stats)
        running.alias().copy_(updated.view({samples, channels}).mean(0));
    };
    update(running_mean, mean);
    update(running_var, var);
    return out.view(input.sizes());
  }
};

}  // namespace

Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
                     const std::optional<Tensor>& var, bool use_input_stats, double momentum,
                     double eps, bool) {
  const Tensor &running_mean = or_undefined(mean), &running_var = or_undefined(var);
  check_both_or_neither(running_mean, running_var);
  HEARTH_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
               "Expected running_mean and running_var to be defined when use_input_stats is false");
  return compose<InstanceNorm>({use_input_stats, momentum, eps}, input, or_undefined(weight),
                               or_undefined(bias), running_mean, running_var);
}

}  // namespace hearth
