#include "ops/binding.h"

#include "hearth/autograd.h"
#include "ops/promote.h"

namespace hearth {

namespace {

bool same_geometry(const TensorImpl& a, const TensorImpl& b) {
  return a.offset == b.offset && a.dtype == b.dtype && a.sizes().equals(b.sizes()) &&
         a.strides().equals(b.strides());
}

void check_inplace_shape(const Tensor& self, const Dims& wanted) {
  HEARTH_CHECK(self.sizes().equals(wanted), "output with shape ", self.sizes(),
               " doesn't match the broadcast shape ", wanted);
}

void resize_out(const Tensor& out, const Dims& wanted) {
  if (out.sizes().equals(wanted)) return;
  if (out.numel() != 0)
    warn(detail::str("An output with one or more elements was resized since it had shape ",
                     out.sizes(), ", which does not match the required output shape ", wanted,
                     ". This behavior is deprecated, and in a future release outputs will not be "
                     "resized unless they "
                     "have zero elements."));
  resize_tensor(out, wanted);
}

}  // namespace

void check_no_internal_overlap(const Tensor& tensor) {
  const TensorImpl& impl = impl_of(tensor);
  for (int d = 0; d < impl.dim; ++d)
    HEARTH_CHECK(impl.sizes_data()[d] <= 1 || impl.strides_data()[d] != 0,
                 "unsupported operation: more than one element of the written-to tensor refers to "
                 "a single memory "
                 "location. Please clone() the tensor before performing the operation.");
}

bool partially_overlap(const TensorImpl& a, const TensorImpl& b) {
  if (!a.storage || !(a.storage == b.storage) || a.numel == 0 || b.numel == 0 ||
      same_geometry(a, b))
    return false;
  const auto end = [](const TensorImpl& t) {
    return span_bytes(t.sizes(), t.strides(), t.offset, element_size(t.dtype));
  };
  const size_t a_begin = size_t(a.offset) * element_size(a.dtype),
               b_begin = size_t(b.offset) * element_size(b.dtype);
  return a_begin < end(b) && b_begin < end(a);
}

namespace {

void check_writable(const Tensor& target, ScalarType dtype) {
  HEARTH_CHECK(can_cast(dtype, target.scalar_type()), "result type ", name_of(dtype),
               " can't be cast to the desired output type ", name_of(target.scalar_type()));
  check_no_internal_overlap(target);
}

bool shares_memory_with_input(const OpCall& call) {
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined() &&
        impl_of(call.inputs[i]).storage == impl_of(call.outputs[0]).storage)
      return true;
  return false;
}

}  // namespace

void prepare_out(const Tensor& out, const Dims& sizes, ScalarType dtype) {
  check_writable(out, dtype);
  resize_out(out, sizes);
}

BoundOutput::BoundOutput(OpCall& call, const Infer& inferred) : call_(call) {
  resizes_late_ =
      call.op.info->effect == Effect::kDynamicShape ||
      (!call.outputs[0].sizes().equals(inferred.out().sizes) && shares_memory_with_input(call));
  for (int i = 0; i < call.op.info->outputs; ++i) {
    const Infer::Output& wanted = inferred.out(i);
    const Tensor& target = call.outputs[i];
    if (!target.defined()) {  // an output the caller did not bind: a scratch result
      if (wanted.defined)
        tensors_[i] = allocate_tensor(wanted.sizes, wanted.dtype, impl_of(call.outputs[0]).device);
      continue;
    }
    check_writable(target, wanted.dtype);
    if (call.binding == Binding::kInplace)
      check_inplace_shape(target, wanted.sizes);
    else if (!resizes_late_)
      resize_out(target, wanted.sizes);
  }
  direct_ = writes_directly(inferred.out());
  if (direct_) {
    for (int i = 0; i < call.op.info->outputs; ++i)
      if (call.outputs[i].defined()) tensors_[i] = call.outputs[i];
    return;
  }
  for (int i = 0; i < call.op.info->outputs; ++i) {
    if (!call.outputs[i].defined()) continue;
    const Infer::Output& wanted = inferred.out(i);
    const Device device = impl_of(call.outputs[i]).device;
    tensors_[i] = call.op.info->effect == Effect::kDynamicShape
                      ? new_tensor(wanted.dtype, device)
                      : allocate_tensor(wanted.sizes, wanted.dtype, device);
  }
}

bool BoundOutput::writes_directly(const Infer::Output& wanted) const {
  const OpInfo& info = *call_.op.info;
  const TensorImpl& target = impl_of(call_.outputs[0]);
  const bool pointwise = call_.op.functor >= 0;
  if (resizes_late_) return false;
  if (!pointwise && (target.dtype != wanted.dtype || info.outputs > 1)) return false;
  for (int i = 0; i < call_.inputs.count; ++i) {
    if (!call_.inputs[i].defined()) continue;
    const TensorImpl& in = impl_of(call_.inputs[i]);
    const bool same = in.storage && in.storage == target.storage && same_geometry(in, target);
    if (partially_overlap(in, target)) {
      const bool certain = in.has(kDense) && target.has(kDense);
      HEARTH_CHECK(
          !pointwise || !certain,
          "unsupported operation: some elements of the input tensor and the written-to tensor "
          "refer to a "
          "single memory location. Please clone() the tensor before performing the operation.");
      return false;
    }
    if (same && !pointwise && !(info.runs_inplace && i == 0)) return false;
  }
  return true;
}

void BoundOutput::finish() {
  const AutoGradMode off(false);
  for (int i = 0; i < call_.op.info->outputs; ++i) {
    const Tensor& target = call_.outputs[i];
    if (!target.defined()) {
      call_.outputs[i] = tensors_[i];
      continue;
    }
    if (!direct_) {
      if (resizes_late_) resize_out(target, Dims(tensors_[i].sizes()));
      target.detach().copy_(tensors_[i]);
    } else {
      impl_of(target).bump_version();
    }
  }
}

}  // namespace hearth
