#pragma once

#include "core/op.h"
#include "functors/families.h"
#include "functors/traits.h"
#include "ops/call.h"
#include "ops/promote.h"
#include "ops/tensor_value.h"
#include "ops/zero_derivative.h"
#include "seam/pointwise.h"

namespace hearth {

/// infer and launch of every pointwise op and of the gradients of pointwise ops.
void infer_pointwise(const OpRecord& op, const void* args, InferContext& context);
void launch_pointwise(const OpRecord& op, const void* args, LaunchContext& context);

/// The loop over out and inputs, tensors or Views: dimensions sorted by stride and merged. A CPU
/// tensor of one element is read during the call, as a number.
PointwiseParams pointwise_params(const TensorImpl& out, const TensorImpl* const* in, int num_inputs,
                                 ScalarType compute);
PointwiseParams pointwise_params(const View& out, const View* const* in, int num_inputs,
                                 ScalarType compute);
PointwiseParams pointwise_params(const View& out, const TensorImpl* const* in, int num_inputs,
                                 ScalarType compute);

/// Rounds the numbers among the operands to the half type of a computation, as PyTorch does, except
/// those that the op keeps exact on this type of device.
void round_numbers(PointwiseParams& params, const OpInfo& info, Device device);
/// Rounds the real part of a factor to a half type.
void round_factor(ComplexFactor& factor, ScalarType half);

namespace detail {

/// The name of a gradient, as in "gelu_backward".
template <class F>
struct GradientName {
  char text[48] = {};
  constexpr GradientName() {
    char* end = text;
    for (const char* part : {F::info.name, "_backward"})
      while (*part) *end++ = *part++;
  }
};
template <class F>
inline constexpr GradientName<F> gradient_name;

/// The op of a gradient of a functor. Its operands are the incoming gradient g and the inputs, or
/// the output, that it reads.
template <class F>
inline constexpr OpInfo gradient_info{
    .name = gradient_name<F>.text, .dtypes = dtypes::kFloating, .exact_numbers = ~SlotSet(0)};

template <class F, int formula>
inline constexpr OpRecord gradient_record{.info = &gradient_info<F>,
                                          .args_size = sizeof(F),
                                          .copy_args = &copy_args<F>,
                                          .destroy_args = &destroy_args<F>,
                                          .arguments = &arguments_of<F>,
                                          .infer = &infer_pointwise,
                                          .launch = &launch_pointwise,
                                          .differentiable = 0,
                                          .functor = fn::number_of<F>,
                                          .formula = formula};

/// Evaluates a formula of f on an array of operands.
template <class F, int formula, class V, class... Rest>
V evaluate_operands(const F& f, const V* operands, Rest... rest) {
  if constexpr (sizeof...(Rest) == fn::operands<F, formula>)
    return fn::evaluate<formula>(f, rest...);
  else
    return evaluate_operands<F, formula, V>(f, operands, rest..., operands[sizeof...(Rest)]);
}

/// The gradient of input `formula - 1`: by a kernel, or by ops on tensors if its graph is recorded.
template <class F, int formula>
Tensor pointwise_gradient(const F& f, GradContext& context) {
  constexpr int num_operands = fn::operands<F, formula>;
  const Tensor& g = context.grad();
  if constexpr (fn::passes_through<F, formula>) {
    return g;
  } else {
    Tensor operand[num_operands];  // g stands for those that are not read
    for (int i = 0; i < num_operands; ++i) {
      const bool is_saved = i > 0 && (fn::reads<F, formula> >> (i - 1) & 1u);
      operand[i] = !is_saved ? g : F::info.grad_of_output ? context.out() : context.in(i - 1);
    }
    // Kernels of gradients exist for real numbers only.
    if (!modes.differentiates() && !g.is_complex()) {
      const Tensor* pointers[num_operands];
      for (int i = 0; i < num_operands; ++i) pointers[i] = &operand[i];
      OpCall call{gradient_record<F, formula>, &f, {pointers, num_operands}};
      run(call);
      return call.outputs[0];
    }
    const bool is_half = is_reduced_float(g.scalar_type());
    TensorValue values[num_operands];
    for (int i = 0; i < num_operands; ++i) {
      // Unlike kernels, ops on tensors do not compute with bool.
      const bool is_flag = !(F::info.dtypes & dtypes::kBool) && operand[i].scalar_type() == kBool;
      const ScalarType wide = is_half ? kFloat : g.scalar_type();
      values[i] = TensorValue(is_half || is_flag ? operand[i].to(wide) : operand[i]);
    }
    if constexpr (requires { f.complex_grad(values[0], values[1]); })
      if (g.is_complex()) return f.complex_grad(values[0], values[1]).tensor;
    Tensor result = evaluate_operands<F, formula, TensorValue>(f, values).tensor;
    for (int i = 1; F::info.piecewise_linear && i < num_operands; ++i)
      result = with_zero_derivative(result, values[i].tensor);
    return is_half ? result.to(g.scalar_type()) : result;
  }
}

template <class F>
void grad_pointwise(const OpRecord&, const void* args, GradContext& context) {
  const F& f = *static_cast<const F*>(args);
  if constexpr (fn::has_formula<F, 1>)
    if (context.needs(0)) context.set(0, pointwise_gradient<F, 1>(f, context));
  if constexpr (fn::has_formula<F, 2>)
    if (context.needs(1)) context.set(1, pointwise_gradient<F, 2>(f, context));
  if constexpr (fn::has_formula<F, 3>)
    if (context.needs(2)) context.set(2, pointwise_gradient<F, 3>(f, context));
}

template <class F>
inline constexpr SlotSet differentiable_inputs = (fn::has_formula<F, 1> ? 1u : 0u) |
                                                 (fn::has_formula<F, 2> ? 2u : 0u) |
                                                 (fn::has_formula<F, 3> ? 4u : 0u);

/// Sets the gradient of a comparison, in place on a floating-point tensor: zeros.
inline void grad_of_comparison(const OpRecord&, const void*, GradContext& context) {
  for (int i = 0; i < context.inputs(); ++i)
    if (context.needs(i))
      context.set(i, zeros(context.in_sizes(i),
                           TensorOptions(context.in_dtype(i)).device(context.in_device(i))));
}

template <class F>
constexpr auto grad_function() -> decltype(OpRecord::grad) {
  if (F::info.promote == Promote::kToBool) return &grad_of_comparison;
  return differentiable_inputs<F> ? &grad_pointwise<F> : nullptr;
}

/// The inputs whose history is recorded: inputs with a derivative; for comparisons, all inputs. If
/// no input has a derivative, also all inputs, so that a call that needs a gradient fails.
template <class F>
inline constexpr SlotSet recorded_inputs =
    F::info.promote == Promote::kToBool || !differentiable_inputs<F> ? ~SlotSet(0)
                                                                     : differentiable_inputs<F>;

template <class F>
SlotSet saves_pointwise(const OpRecord&, const void*, SlotSet needs) {
  if (F::info.grad_of_output) return out_slot(0);
  return (needs & 1u ? fn::reads<F, 1> : 0u) | (needs & 2u ? fn::reads<F, 2> : 0u) |
         (needs & 4u ? fn::reads<F, 3> : 0u);
}

/// Rounds a functor's alpha, which PyTorch's CPU kernels convert to the dtype they compute in.
template <class F>
void round_alpha(void* functor, ScalarType half) {
  round_factor(static_cast<F*>(functor)->alpha, half);
}
template <class F>
constexpr auto rounding_function() -> decltype(OpRecord::round_args) {
  if constexpr (requires(F f, ComplexFactor & alpha) { alpha = f.alpha; })
    return &round_alpha<F>;
  else
    return nullptr;
}

}  // namespace detail

template <class F>
inline constexpr OpRecord pointwise_record{.info = &F::info,
                                           .args_size = sizeof(F),
                                           .copy_args = &detail::copy_args<F>,
                                           .destroy_args = &detail::destroy_args<F>,
                                           .arguments = &arguments_of<F>,
                                           .infer = &infer_pointwise,
                                           .launch = &launch_pointwise,
                                           .grad = detail::grad_function<F>(),
                                           .saves = &detail::saves_pointwise<F>,
                                           .differentiable = detail::recorded_inputs<F>,
                                           .functor = fn::number_of<F>,
                                           .round_args = detail::rounding_function<F>()};

/// pointwise(functor, inputs...): an invocation of the functor's op.
template <class F, class... T>
auto pointwise(F f, const T&... inputs) {
  static_assert(fn::number_of<F> >= 0,
                "the functor is missing from the List at the end of its header");
  static_assert(sizeof(F) <= kFunctorBytes && sizeof...(T) == fn::arity<F>);
  return Invocation<pointwise_record<F>, F, InputPointers<T...>>(f, inputs...);
}

/// A number as a functor's parameter; integer dtypes use its integer part.
inline Factor factor_of(const Scalar& value) {
  return {value.toDouble(),
          value.isIntegral(true) ? value.toLong() : static_cast<int64_t>(value.toDouble())};
}
/// The same for a number that may be complex.
inline ComplexFactor complex_factor_of(const Scalar& value) {
  const complex<double> number = value.toComplexDouble();
  return {value.isComplex() ? Factor{number.real_, 0} : factor_of(value), number.imag_};
}

}  // namespace hearth
