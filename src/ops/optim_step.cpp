#include "ops/optim_step.h"

#include "ops/binding.h"

namespace hearth {

namespace {

void check_same_device(const OpInfo& info, Device a, Device b) {
  HEARTH_CHECK(a == b,
               "Expected all tensors to be on the same device, but found at least two devices, ", a,
               " and ", b, "! (in method ", info.name, ")");
}

void check_operand(const OpInfo& info, const TensorImpl& first, const TensorImpl& param,
                   const TensorImpl& t, bool is_written) {
  check_same_device(info, first.device, t.device);
  HEARTH_CHECK(t.dtype == first.dtype, info.name,
               ": params, grads and states must have the same dtype, got ", name_of(first.dtype),
               " and ", name_of(t.dtype));
  HEARTH_CHECK(t.sizes().equals(param.sizes()), info.name,
               ": a gradient or state must have the sizes of its parameter, got ", t.sizes(),
               " for a parameter of sizes ", param.sizes());
  if (is_written) check_no_internal_overlap(t);
}

/// Checks a number that a rule reads from memory.
void check_number(const OpInfo& info, StepShape::Numbers kind, const TensorImpl& first,
                  const TensorImpl& number) {
  if (!number.device.is_cpu()) check_same_device(info, first.device, number.device);
  if (kind == StepShape::kNorms)
    HEARTH_CHECK(number.numel == 1 && is_floating_point(number.dtype), info.name,
                 ": total_norm must be a tensor of one floating point number, got sizes ",
                 number.sizes(), " of ", name_of(number.dtype));
  else
    HEARTH_CHECK(number.numel == 1 && number.dtype == kFloat, info.name,
                 ": state_steps must be tensors of one float32, got sizes ", number.sizes(), " of ",
                 name_of(number.dtype));
}

void check_scalar(const OpInfo& info, const StepShape& shape, const InferContext& context, int i) {
  if (!context.has(i)) return;
  check_same_device(info, context.in(0).device, context.in(i).device);
  HEARTH_CHECK(context.in(i).numel == 1 && context.in(i).dtype == kFloat, info.name, ": ",
               i == shape.inputs() ? "grad_scale" : "found_inf",
               " must be a tensor of one float32, got sizes ", context.in(i).sizes(), " of ",
               name_of(context.in(i).dtype));
}

}  // namespace

void infer_step(const OpInfo& info, const StepShape& shape, const InferContext& context) {
  for (int i = 0; i < shape.inputs(); ++i)
    HEARTH_CHECK(context.has(i),
                 "Expected a proper Tensor but got None (or an undefined Tensor in C++) for "
                 "argument ",
                 i, " of ", info.name);
  for (int64_t i = 0; i < shape.count; ++i) {
    const TensorImpl& param = context.in(shape.input_of(0, i));
    for (int k = 0; k < shape.num_operands; ++k)
      check_operand(info, context.in(0), param, context.in(shape.input_of(k, i)),
                    shape.writes(k, context.has(shape.inputs())));
    if (shape.numbers != StepShape::kNone)
      check_number(info, shape.numbers, context.in(0),
                   context.in(shape.input_of(shape.num_operands, i)));
  }
  for (int i = 0; i < 2; ++i) check_scalar(info, shape, context, shape.inputs() + i);
}

namespace {

/// Whether parameter i is dense and its gradient and state have the strides of the parameter.
bool have_equal_layout(const StepShape& shape, int64_t i, const LaunchContext& context) {
  const TensorImpl& param = context.in_impl(shape.input_of(0, i));
  if (!param.has(kDense)) return false;
  for (int k = 1; k < shape.num_operands; ++k)
    if (!context.in_impl(shape.input_of(k, i)).strides().equals(param.strides())) return false;
  return true;
}

/// The dimensions in the parameter's memory order.
StepLayout layout_of(const StepShape& shape, int64_t i, const LaunchContext& context) {
  const TensorImpl& param = context.in_impl(shape.input_of(0, i));
  StepLayout layout;
  layout.dim = param.dim;
  int order[kMaxDims];
  for (int d = 0; d < param.dim; ++d) {
    int position = d;
    for (;
         position > 0 && param.strides()[size_t(order[position - 1])] < param.strides()[size_t(d)];
         --position)
      order[position] = order[position - 1];
    order[position] = d;
  }
  for (int d = 0; d < param.dim; ++d) {
    layout.sizes[d] = param.sizes()[size_t(order[d])];
    for (int k = 0; k < shape.num_operands; ++k)
      layout.strides[k][d] = context.in_impl(shape.input_of(k, i)).strides()[size_t(order[d])];
  }
  return layout;
}

float* scalar_address(const LaunchContext& context, int i) {
  return context.has(i) ? static_cast<float*>(kernel_address(context.in_impl(i))) : nullptr;
}

/// Sets the number that a rule reads for parameter i: its value on the CPU, its address on a
/// device.
void set_number(const StepShape& shape, int64_t i, const LaunchContext& context,
                FusedStepParams& params) {
  StepTensor& tensor = params.tensors[size_t(i)];
  const TensorImpl& number = context.in_impl(shape.input_of(shape.num_operands, i));
  params.step_dtype = number.dtype;
  if (number.device.is_cpu())
    tensor.step = number_at(number.data(), number.dtype);
  else
    tensor.step_at = kernel_address(number);
}

}  // namespace

FusedStepParams step_params(const StepShape& shape, bool maximize, const LaunchContext& context) {
  FusedStepParams params;
  params.dtype = context.in_impl(0).dtype;
  params.maximize = maximize;
  params.grad_scale = scalar_address(context, shape.inputs());
  params.found_inf = scalar_address(context, shape.inputs() + 1);
  params.tensors.resize(size_t(shape.count));
  for (int64_t i = 0; i < shape.count; ++i) {
    StepTensor& tensor = params.tensors[size_t(i)];
    tensor.numel = context.in_impl(shape.input_of(0, i)).numel;
    for (int k = 0; k < shape.num_operands; ++k)
      tensor.data[k] = kernel_address(context.in_impl(shape.input_of(k, i)));
    if (shape.numbers != StepShape::kNone) set_number(shape, i, context, params);
    if (have_equal_layout(shape, i, context)) continue;
    tensor.layout = int32_t(params.layouts.size());
    params.layouts.push_back(layout_of(shape, i, context));
  }
  return params;
}

namespace {

/// The dtype of a step's copies; nullopt if an operand is wrong, which the op then refuses.
std::optional<ScalarType> common_dtype(std::span<const TensorList> operands) {
  constexpr size_t kFirstState = 2;
  const ScalarType first = operands[0][0].scalar_type();
  ScalarType common = first;
  for (size_t k = 0; k < operands.size(); ++k)
    for (const Tensor& tensor : operands[k]) {
      if (!tensor.defined() || !is_floating_point(tensor.scalar_type())) return {};
      if (k < kFirstState && tensor.scalar_type() != first) return {};
      common = promote_types(common, tensor.scalar_type());
    }
  return common;
}

}  // namespace

bool mixes_dtypes(const StepShape& shape, std::span<const TensorList> lists) {
  if (!lists[0][0].defined()) return false;
  const ScalarType first = lists[0][0].scalar_type();
  int used = 0;
  for (const TensorList& list : lists) {
    if (list.empty()) continue;
    if (++used > shape.num_operands) break;
    for (const Tensor& tensor : list)
      if (tensor.defined() && tensor.scalar_type() != first) return true;
  }
  return false;
}

StepCopies::StepCopies(const StepShape& shape, std::span<TensorList> lists, bool scales)
    : shape_(shape), scales_(scales) {
  std::vector<TensorList*> used;
  for (TensorList& list : lists)
    if (!list.empty() && int(used.size()) < shape.num_operands) {
      used.push_back(&list);
      operands_.push_back(list);
    }
  const std::optional<ScalarType> dtype = common_dtype(operands_);
  if (!dtype) return;
  copies_.resize(used.size());
  for (size_t k = 0; k < used.size(); ++k) {
    for (const Tensor& tensor : operands_[k]) copies_[k].push_back(tensor.to(*dtype));
    *used[k] = copies_[k];
  }
}

void StepCopies::write_back() const {
  for (size_t k = 0; k < copies_.size(); ++k)
    for (size_t i = 0; shape_.writes(int(k), scales_) && i < copies_[k].size(); ++i)
      if (!copies_[k][i].is_same(operands_[k][i])) operands_[k][i].copy_(copies_[k][i]);
}

void check_lengths(TensorList self, std::initializer_list<TensorList> others) {
  for (const TensorList& list : others)
    HEARTH_CHECK(list.size() == self.size(),
                 "Tensor lists must have the same number of tensors, got ", self.size(), " and ",
                 list.size());
}

}  // namespace hearth
