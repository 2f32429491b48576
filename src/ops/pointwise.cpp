#include "ops/pointwise.h"

#include <cstring>

#include "functors/arithmetic.h"
#include "hearth/float8.h"
#include "ops/memory_order.h"

namespace hearth {

namespace {

/// The strides of a tensor broadcast to `sizes`: 0 where it repeats.
Dims broadcast_strides(IntArrayRef own_sizes, IntArrayRef own_strides, IntArrayRef sizes) {
  Dims strides(sizes.size(), 0);
  const size_t shift = sizes.size() - own_sizes.size();
  for (size_t d = 0; d < own_sizes.size(); ++d)
    if (own_sizes[d] != 1 || sizes[d + shift] == 1) strides[d + shift] = own_strides[d];
  return strides;
}

bool all_equal_sizes_and_contiguous(const InferContext& context) {
  for (int i = 0; i < context.inputs(); ++i)
    if (!context.in(i).contiguous() || !context.in(i).sizes().equals(context.in(0).sizes()))
      return false;
  return true;
}

void keep_order_of_inputs(InferContext& context) {
  InferContext::Output& out = context.out();
  if (out.sizes.size() < 2 || !any_noncontiguous(context)) return;
  Dims strides[kMaxOperands];
  for (int i = 0; i < context.inputs(); ++i)
    strides[i] = broadcast_strides(context.in(i).sizes(), context.in(i).strides(), out.sizes);
  keep_memory_order(out, strides, context.inputs());
}

// Accessors that TensorImpl and View have in common.
IntArrayRef sizes_of(const TensorImpl& impl) { return impl.sizes(); }
IntArrayRef sizes_of(const View& view) { return {view.sizes, size_t(view.dim)}; }
IntArrayRef strides_of(const TensorImpl& impl) { return impl.strides(); }
IntArrayRef strides_of(const View& view) { return {view.strides, size_t(view.dim)}; }
void* address_of(const TensorImpl& impl) { return kernel_address(impl); }
void* address_of(const View& view) { return view.data; }

void set_operand(Operand& operand, const View& view) {
  operand.dtype = view.dtype;
  operand.is_number = false;
  operand.data = view.data;
}
void set_operand(Operand& operand, const TensorImpl& impl) {
  operand.dtype = impl.dtype;
  // A number on the host is read now: it may be freed or overwritten before a device reads it.
  operand.is_number = impl.numel == 1 && impl.device.is_cpu() && impl.storage;
  if (operand.is_number)
    std::memcpy(operand.number, impl.data(), element_size(impl.dtype));
  else
    operand.data = kernel_address(impl);
}

/// Whether all operands are contiguous and of one size, except inputs of one element.
template <class Out, class In>
bool is_single_loop(const Out& out, const In* const* in, int num_inputs) {
  if (!out.contiguous()) return false;
  for (int i = 0; i < num_inputs; ++i)
    if (in[i]->numel != 1 && !(in[i]->contiguous() && sizes_of(*in[i]).equals(sizes_of(out))))
      return false;
  return true;
}

/// Sets the dimensions of `params`, outermost first: the dimensions of `sizes`, with adjacent
/// dimensions merged where one stride serves every operand. `strides` has the strides of the output
/// and then of the inputs.
void set_dims(PointwiseParams& params, IntArrayRef sizes, const Dims* strides, int num_inputs) {
  const Dims order = memory_order(sizes, strides, num_inputs + 1);
  const auto stride_of = [&](int operand) -> int64_t* {
    return operand == 0 ? params.out.strides : params.in[operand - 1].strides;
  };
  int dim = 0;
  for (size_t k = order.size(); k-- > 0;) {  // from the outermost
    const int64_t d = order[k];
    const int64_t size = sizes[size_t(d)];
    if (size == 1) continue;
    bool can_merge = dim > 0;
    for (int i = 0; i <= num_inputs && can_merge; ++i)
      can_merge = stride_of(i)[dim - 1] == strides[i][size_t(d)] * size;
    if (!can_merge) ++dim;
    params.sizes[dim - 1] = can_merge ? params.sizes[dim - 1] * size : size;
    for (int i = 0; i <= num_inputs; ++i) stride_of(i)[dim - 1] = strides[i][size_t(d)];
  }
  if (dim == 0) {
    dim = 1;
    params.sizes[0] = 1;
    for (int i = 0; i <= num_inputs; ++i) stride_of(i)[0] = 0;
  }
  params.dim = static_cast<int8_t>(dim);
}

template <class T>
double number_at(const void* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  if constexpr (requires { static_cast<double>(value); })
    return static_cast<double>(value);
  else
    return 0;  // complex numbers are not combined with half types
}

/// The value of a number of a real dtype.
double read_number(const Operand& operand) {
  switch (operand.dtype) {
#define HEARTH_READ_NUMBER(type, Name) \
  case ScalarType::Name: return number_at<type>(operand.number);
    HEARTH_ALL_DTYPES(HEARTH_READ_NUMBER)
#undef HEARTH_READ_NUMBER
    default: return 0;
  }
}

/// Calls f with x rounded to a half type.
template <class F>
void with_half(double x, ScalarType half, F f) {
  if (half == kHalf)
    f(Half(static_cast<float>(x)));
  else
    f(BFloat16(static_cast<float>(x)));
}

template <class Out, class In>
PointwiseParams params_of(const Out& out, const In* const* in, int num_inputs, ScalarType compute) {
  PointwiseParams params;
  params.inputs = static_cast<int8_t>(num_inputs);
  params.compute = compute;
  params.numel = out.numel;
  params.out.dtype = out.dtype;
  params.out.data = address_of(out);
  for (int i = 0; i < num_inputs; ++i) set_operand(params.in[i], *in[i]);
  if (is_single_loop(out, in, num_inputs)) {
    params.dim = 1;
    params.sizes[0] = out.numel;
    params.out.strides[0] = 1;
    for (int i = 0; i < num_inputs; ++i) params.in[i].strides[0] = in[i]->numel == 1 ? 0 : 1;
    return params;
  }
  const IntArrayRef sizes = sizes_of(out);
  Dims strides[kMaxOperands + 1];
  strides[0] = Dims(strides_of(out));
  for (int i = 0; i < num_inputs; ++i)
    strides[i + 1] = broadcast_strides(sizes_of(*in[i]), strides_of(*in[i]), sizes);
  set_dims(params, sizes, strides, num_inputs);
  return params;
}

}  // namespace

PointwiseParams pointwise_params(const TensorImpl& out, const TensorImpl* const* in, int num_inputs,
                                 ScalarType compute) {
  return params_of(out, in, num_inputs, compute);
}
PointwiseParams pointwise_params(const View& out, const View* const* in, int num_inputs,
                                 ScalarType compute) {
  return params_of(out, in, num_inputs, compute);
}
PointwiseParams pointwise_params(const View& out, const TensorImpl* const* in, int num_inputs,
                                 ScalarType compute) {
  return params_of(out, in, num_inputs, compute);
}

void round_factor(ComplexFactor& factor, ScalarType half) {
  with_half(factor.real, half, [&](auto rounded) { factor.real = static_cast<double>(rounded); });
}

void round_numbers(PointwiseParams& params, const OpInfo& info, Device device) {
  if (!is_reduced_float(params.compute)) return;
  const SlotSet exact = device.is_cpu() ? info.exact_numbers_cpu : info.exact_numbers;
  for (int i = 0; i < params.inputs; ++i) {
    Operand& in = params.in[i];
    if (!in.is_number || in.dtype == params.compute || exact & in_slot(i)) continue;
    with_half(read_number(in), params.compute,
              [&](auto half) { std::memcpy(in.number, &half, sizeof half); });
    in.dtype = params.compute;
  }
}

namespace {

/// The number, rounded to an 8-bit type.
float rounded(double value, ScalarType type) {
  switch (type) {
#define HEARTH_ROUND(cpp_type, Name) \
  case ScalarType::Name: return static_cast<float>(cpp_type(static_cast<float>(value)));
    HEARTH_STORED_DTYPES(HEARTH_ROUND)
#undef HEARTH_ROUND
    default: return static_cast<float>(value);
  }
}

/// Replaces a compute dtype without kernels by kernel_type. Unsigned operands count as signed ones,
/// which have the same bits; other numbers are first rounded to an 8-bit type, as in PyTorch.
void use_kernel_type(PointwiseParams& params) {
  const ScalarType stored = params.compute;
  params.compute = kernel_type(stored);
  const auto adapt = [&](Operand& operand) {
    if (operand.dtype == stored && !is_float8(stored)) operand.dtype = params.compute;
  };
  adapt(params.out);
  for (int i = 0; i < params.inputs; ++i) {
    Operand& in = params.in[i];
    adapt(in);
    if (!is_float8(stored) || !in.is_number || in.dtype == stored) continue;
    const float value = rounded(Scalar(read_number(in)).toDouble(), stored);
    std::memcpy(in.number, &value, sizeof value);
    in.dtype = kFloat;
  }
}

}  // namespace

void infer_pointwise(const OpRecord& op, const void*, InferContext& context) {
  InferContext::Output& out = context.out();
  out.dtype = op.info->promote == Promote::kToBool ? kBool : context.compute_dtype;
  out.sizes = context.in(0).sizes();
  if (all_equal_sizes_and_contiguous(context)) return;
  for (int i = 1; i < context.inputs(); ++i)
    out.sizes = broadcast_sizes(out.sizes, context.in(i).sizes());
  keep_order_of_inputs(context);
}

void launch_pointwise(const OpRecord& op, const void* args, LaunchContext& context) {
  const TensorImpl* in[kMaxOperands];
  for (int i = 0; i < context.inputs(); ++i) in[i] = &context.in_impl(i);
  PointwiseParams params =
      pointwise_params(context.out_impl(), in, context.inputs(), context.compute_dtype);
  params.functor = static_cast<int16_t>(op.functor);
  params.formula = static_cast<Formula>(op.formula);
  std::memcpy(params.parameters, args, op.args_size);
  if (!has_kernels(params.compute)) [[unlikely]]
    use_kernel_type(params);
  if (is_reduced_float(params.compute)) {
    round_numbers(params, *op.info, context.out_impl().device);
    if (op.round_args && context.out_impl().device.is_cpu())
      op.round_args(params.parameters, params.compute);
  }
  run_kernel(context.ctx, params);
}

}  // namespace hearth
