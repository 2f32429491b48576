// layer_norm, group_norm and rms_norm: normalisation of rows of elements.
#include "seam/row_norm.h"

#include <cmath>
#include <limits>

#include "ops/composed_gradient.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// The gradients with respect to input, weight and bias. Inputs: grad_out, input, weight, mean,
/// rstd.
struct RowNormBackward {
  struct Args {
    RowNormShape shape;
    double eps;
    ScalarType bias_dtype;
    SlotSet wanted;  // the gradients to compute
    HEARTH_FIELDS(shape.rows, shape.groups, shape.channels, shape.inner, shape.centered, eps,
                  bias_dtype, wanted)
  };
  static constexpr OpInfo info{.name = "row_norm_backward",
                               .arguments = "grad_out,input,weight,mean,rstd",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(0) | in_slot(1) | in_slot(2),
                               .optional = in_slot(2) | in_slot(3),
                               .outputs = 3};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(1);
    context.set(0, in.sizes(), in.dtype);
    context.set(1, Dims{args.shape.all_channels()},
                context.has(2) ? context.in(2).dtype : in.dtype);
    context.set(2, Dims{args.shape.all_channels()}, args.bias_dtype);
    context.keep_only(args.wanted);
  }
  static void launch(const Args& args, LaunchContext& context) {
    RowNormBackwardParams params;
    params.grad = dense(context, context.in(0));
    params.in = dense(context, context.in(1));
    params.weight = dense(context, context.in(2));
    params.mean = context.in(3);
    params.rstd = context.in(4);
    params.grad_in = context.out(0);
    params.grad_weight = context.out(1);
    params.grad_bias = context.out(2);
    params.shape = args.shape;
    if (params.in.numel > 0) return run_kernel(context.ctx, params);
    run_fill(context.ctx, params.grad_weight, 0);
    run_fill(context.ctx, params.grad_bias, 0);
  }
  static void grad(const Args& args, GradContext& context);
};

/// The backward pass composed of differentiable ops, for second derivatives.
std::vector<Tensor> backward_formula(const RowNormBackward::Args& args, const Tensor& grad,
                                     const Tensor& input, const Tensor& weight) {
  const RowNormShape& shape = args.shape;
  const Dims sizes{shape.rows / shape.groups, shape.groups, shape.channels, shape.inner};
  constexpr int64_t kRow[] = {2, 3}, kOutsideWeight[] = {0, 3};
  const IntArrayRef row(kRow), outside_weight(kOutsideWeight);
  const ScalarType type = wide_type(input.scalar_type());
  const Tensor x = input.reshape(sizes).to(type), g = grad.reshape(sizes).to(type);
  const Tensor centred = shape.centered ? x.sub(x.mean(row, true)) : x;
  const Tensor rstd = centred.mul(centred).mean(row, true).add(args.eps).rsqrt();
  const Tensor normalized = centred.mul(rstd);
  const Tensor scaled =
      weight.defined() ? g.mul(weight.to(type).reshape({1, shape.groups, shape.channels, 1})) : g;
  const Tensor projected = scaled.sub(normalized.mul(scaled.mul(normalized).mean(row, true)));
  const Tensor grad_in =
      (shape.centered ? projected.sub(scaled.mean(row, true)) : projected).mul(rstd);
  return {grad_in.reshape(input.sizes()), g.mul(normalized).sum(outside_weight).reshape({-1}),
          g.sum(outside_weight).reshape({-1})};
}

void RowNormBackward::grad(const Args& args, GradContext& context) {
  composed_gradient(context, 3,
                    [&](const Tensor* in) { return backward_formula(args, in[0], in[1], in[2]); });
}

struct RowNormArgs {
  RowNormShape shape;
  double eps;
  Dims statistics;  // the sizes of mean and rstd
  HEARTH_FIELDS(shape.rows, shape.groups, shape.channels, shape.inner, eps, statistics)
};

/// Inputs: input, weight, bias; outputs: result, mean, rstd. The norms differ by name and shape.
template <const OpInfo& op_info>
struct RowNorm {
  using Args = RowNormArgs;
  static constexpr OpInfo info = op_info;
  static void check_dtype(const InferContext& context, int i) {
    HEARTH_CHECK(!context.has(i) || context.in(i).dtype == wide_type(context.in(0).dtype) ||
                     context.in(i).dtype == context.in(0).dtype,
                 "mixed dtype (CPU): expect parameter to have scalar type of ",
                 name_of(wide_type(context.in(0).dtype)), ", got ", name_of(context.in(i).dtype),
                 " with an input of ", name_of(context.in(0).dtype));
  }
  static void infer(const Args& args, InferContext& context) {
    check_dtype(context, 1);
    check_dtype(context, 2);
    const TensorImpl& in = context.in(0);
    context.set(0, in.sizes(), in.dtype);
    for (int i = 1; i < 3; ++i) context.set(i, args.statistics, wide_type(in.dtype));
    context.out(1).defined = args.shape.centered;
  }
  static void launch(const Args& args, LaunchContext& context) {
    RowNormParams params;
    params.in = dense(context, context.in(0));
    params.out = context.out(0);
    params.weight = dense(context, context.in(1));
    params.bias = dense(context, context.in(2));
    params.mean = context.out(1);
    params.rstd = context.out(2);
    params.shape = args.shape;
    params.eps = args.eps;
    if (params.in.numel > 0) return run_kernel(context.ctx, params);
    run_fill(context.ctx, params.mean, 0);
    run_fill(context.ctx, params.rstd, std::numeric_limits<double>::quiet_NaN());
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.grad(0).defined()) return;
    const ScalarType bias_dtype =
        context.needs(2) ? context.in_dtype(2) : context.grad().scalar_type();
    std::vector<Tensor> grads =
        invoke<RowNormBackward>({args.shape, args.eps, bias_dtype, context.wanted()},
                                context.grad(), context.in(0), context.in(1), context.out(1),
                                context.out(2))
            .all();
    for (int i = 1; i < 3; ++i)
      if (context.needs(i)) grads[size_t(i)] = grads[size_t(i)].reshape(context.in_sizes(i));
    context.set_wanted(grads);
  }
};

constexpr OpInfo row_norm_info(const char* name, const char* node, Amp amp) {
  return {.name = name,
          .node = node,
          .arguments = "input,weight,bias",
          .dtypes = dtypes::kFloating,
          .amp = amp,
          .amp_cpu = Amp::kKeep,
          .saves = in_slot(0) | in_slot(1) | out_slot(1) | out_slot(2),
          .optional = in_slot(1) | in_slot(2),
          .outputs = 3,
          .non_differentiable = out_slot(1) | out_slot(2)};
}
constexpr OpInfo kLayerNorm = row_norm_info("native_layer_norm", "NativeLayerNorm", Amp::kFloat32);
constexpr OpInfo kGroupNorm = row_norm_info("native_group_norm", "NativeGroupNorm", Amp::kKeep);
constexpr OpInfo kRmsNorm = row_norm_info("rms_norm", "FusedRmsNorm", Amp::kFloat32);

/// The arguments of a norm over the last dimensions, which must have the sizes `normalized`.
RowNormArgs trailing_rows(const Tensor& input, IntArrayRef normalized, bool centered, double eps) {
  HEARTH_CHECK(!normalized.empty(),
               "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
               "one element, but got normalized_shape = ",
               normalized);
  const size_t dims = size_t(input.dim()), num_dims = normalized.size();
  const bool is_match =
      dims >= num_dims && input.sizes().slice(dims - num_dims, num_dims).equals(normalized);
  const std::string list = to_string(normalized);
  HEARTH_CHECK(is_match, "Given normalized_shape=", normalized, ", expected input with shape [*",
               centered ? ", " : "", list.substr(1), ", but got input of size", input.sizes());
  RowNormArgs args{{}, eps, Dims(dims, 1)};
  args.shape.centered = centered;
  for (int64_t size : normalized) args.shape.channels *= size;
  args.shape.rows = 1;
  for (size_t d = 0; d < dims - num_dims; ++d)
    args.shape.rows *= args.statistics[d] = input.size(int64_t(d));
  return args;
}

void check_same_shape(const Tensor& t, const char* name, IntArrayRef normalized) {
  HEARTH_CHECK(!t.defined() || t.sizes().equals(normalized), "Expected ", name,
               " to be of same shape as normalized_shape, but got ", name, " of shape ", t.sizes(),
               " and normalized_shape = ", normalized);
}

struct GroupNorm {
  struct Args {
    int64_t num_groups;
    double eps;
    HEARTH_FIELDS(num_groups, eps)
  };
  static constexpr OpInfo info{.name = "group_norm", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  static Tensor compute(const Args& args, const Tensor& input, const Tensor& weight,
                        const Tensor& bias) {
    int64_t inner = 1;
    for (int64_t d = 2; d < input.dim(); ++d) inner *= input.size(d);
    const Tensor out = std::get<0>(native_group_norm(
        input, weight, bias, input.size(0), input.size(1), inner, args.num_groups, args.eps));
    return out.contiguous(input.suggest_memory_format());
  }
};

void check_per_channel(const Tensor& t, const char* name, const Tensor& input, int64_t channels) {
  HEARTH_CHECK(!t.defined() || (t.dim() == 1 && t.numel() == channels), "Expected ", name,
               " to be a vector of size equal to the number of channels in input, but got ", name,
               " of shape ", t.sizes(), " and input of shape ", input.sizes());
}

}  // namespace

TensorTriple native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                               const std::optional<Tensor>& scale,
                               const std::optional<Tensor>& shift, double eps) {
  const Tensor &weight = or_undefined(scale), &bias = or_undefined(shift);
  const RowNormArgs args = trailing_rows(input, normalized_shape, true, eps);
  check_same_shape(weight, "weight", normalized_shape);
  check_same_shape(bias, "bias", normalized_shape);
  return invoke<RowNorm<kLayerNorm>>(args, input, weight, bias).triple();
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps, bool) {
  return std::get<0>(native_layer_norm(input, normalized_shape, weight, bias, eps));
}

TensorTriple native_group_norm(const Tensor& input, const std::optional<Tensor>& scale,
                               const std::optional<Tensor>& shift, int64_t N, int64_t C,
                               int64_t HxW, int64_t group, double eps) {
  const Tensor &weight = or_undefined(scale), &bias = or_undefined(shift);
  HEARTH_CHECK(group > 0 && C % group == 0,
               "Expected number of channels in input to be divisible by num_groups, but got input "
               "of shape ",
               input.sizes(), " and num_groups=", group);
  HEARTH_CHECK(input.numel() == N * C * HxW, "native_group_norm: an input of sizes ", input.sizes(),
               " does not have ", N, " samples of ", C, " channels of ", HxW, " elements");
  HEARTH_CHECK(C > 0, "Expected number of channels to be greater than 0, got ", C);
  HEARTH_CHECK(HxW > 0, "Expected HxW to be greater than 0, got ", HxW);
  check_per_channel(weight, "weight", input, C);
  check_per_channel(bias, "bias", input, C);
  RowNormArgs args{{}, eps, Dims{N, group}};
  args.shape.rows = N * group;
  args.shape.groups = group;
  args.shape.channels = C / group;
  args.shape.inner = HxW;
  return invoke<RowNorm<kGroupNorm>>(args, input, weight, bias).triple();
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps, bool) {
  HEARTH_CHECK(num_groups > 0, "Expected num groups to be greater than 0, got ", num_groups);
  HEARTH_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
               input.dim());
  return compose<GroupNorm>({num_groups, eps}, input, or_undefined(weight), or_undefined(bias));
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                const std::optional<Tensor>& scale, std::optional<double> eps) {
  const Tensor& weight = or_undefined(scale);
  const bool is_double = input.scalar_type() == kDouble;
  const double default_eps = is_double ? std::numeric_limits<double>::epsilon()
                                       : double(std::numeric_limits<float>::epsilon());
  const RowNormArgs args = trailing_rows(input, normalized_shape, false, eps.value_or(default_eps));
  check_same_shape(weight, "weight", normalized_shape);
  const bool has_wide_weight =
      !weight.defined() || weight.scalar_type() == wide_type(input.scalar_type());
  return std::get<0>(
      invoke<RowNorm<kRmsNorm>>(args, input,
                                has_wide_weight ? weight : weight.to(input.scalar_type()), Tensor())
          .triple());
}

}  // namespace hearth
