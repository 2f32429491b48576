#include "ops/binding.h"

#include <algorithm>
#include <vector>

#include "autograd/state.h"
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

bool overlaps_itself(const TensorImpl& impl) {
  for (int d = 0; d < impl.dim; ++d)
    if (impl.sizes_data()[d] > 1 && impl.strides_data()[d] == 0) return true;
  return false;
}

void warn_of_expanded(const Tensor& self, const char* op, const char* assignment) {
  if (overlaps_itself(impl_of(self)))
    warn(detail::str("Use of ", op,
                     " on expanded tensors is deprecated. Please clone() the tensor before "
                     "performing this operation. This also applies to advanced indexing e.g. ",
                     assignment));
}

void check_no_internal_overlap(const TensorImpl& impl) {
  HEARTH_CHECK(!overlaps_itself(impl),
               "unsupported operation: more than one element of the written-to tensor refers to a "
               "single memory location. Please clone() the tensor before performing the "
               "operation.");
}

namespace {

size_t begin_of(const TensorImpl& t) { return size_t(t.offset) * element_size(t.dtype); }
size_t end_of(const TensorImpl& t) {
  return span_bytes(t.sizes(), t.strides(), t.offset, element_size(t.dtype));
}

/// Whether the memory ranges of two tensors overlap.
bool ranges_overlap(const TensorImpl& a, const TensorImpl& b) {
  return a.storage && a.storage == b.storage && a.numel > 0 && b.numel > 0 &&
         begin_of(a) < end_of(b) && begin_of(b) < end_of(a);
}

/// Calls `visit` with the offset in the storage of each element. Callers pass dimension 0 and the
/// tensor's offset.
template <class Visit>
void for_each_offset(const TensorImpl& t, int dim, int64_t offset, const Visit& visit) {
  if (dim == t.dim) return visit(offset);
  for (int64_t i = 0; i < t.sizes_data()[dim]; ++i)
    for_each_offset(t, dim + 1, offset + i * t.strides_data()[dim], visit);
}

}  // namespace

bool is_same_view(const TensorImpl& a, const TensorImpl& b) {
  return a.storage && a.storage == b.storage && same_geometry(a, b);
}

bool share_memory(const TensorImpl& a, const TensorImpl& b) {
  if (!ranges_overlap(a, b)) return false;
  if ((a.has(kDense) && b.has(kDense)) || same_geometry(a, b)) return true;
  const size_t unit = std::min(element_size(a.dtype), element_size(b.dtype));
  const size_t begin = begin_of(a) / unit;
  std::vector<bool> is_in_a(end_of(a) / unit - begin);
  const auto for_each_unit = [unit](const TensorImpl& t, auto visit) {
    const size_t units = element_size(t.dtype) / unit;
    for_each_offset(t, 0, t.offset, [&](int64_t offset) {
      for (size_t k = 0; k < units; ++k) visit(size_t(offset) * units + k);
    });
  };
  for_each_unit(a, [&](size_t i) { is_in_a[i - begin] = true; });
  bool result = false;
  for_each_unit(b, [&](size_t i) {
    result |= i >= begin && i - begin < is_in_a.size() && is_in_a[i - begin];
  });
  return result;
}

namespace {

constexpr char kOverlap[] =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation.";

bool have_same_memory_layout(const TensorImpl& a, const TensorImpl& b) {
  return begin_of(a) == begin_of(b) && end_of(a) == end_of(b) && a.strides().equals(b.strides());
}

}  // namespace

void check_not_overlapping(const TensorImpl& written, const TensorImpl& other) {
  const bool is_certain = &written == &other || (written.has(kDense) && other.has(kDense));
  HEARTH_CHECK(!is_certain || !ranges_overlap(written, other), kOverlap);
}

namespace {

bool shares_memory_with_input(const OpCall& call, const Tensor& output) {
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined() && impl_of(call.inputs[i]).storage == impl_of(output).storage)
      return true;
  return false;
}

bool has_wrapped_number(const OpCall& call) {
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined() && impl_of(call.inputs[i]).has(kWrappedNumber)) return true;
  return false;
}

void check_outputs_disjoint(const Outputs& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      if (!outputs[i].defined() || !outputs[k].defined()) continue;
      HEARTH_CHECK(!share_memory(impl_of(outputs[i]), impl_of(outputs[k])), kOverlap);
    }
}

}  // namespace

void prepare_out(const Tensor& out, const Dims& sizes, ScalarType dtype) {
  check_castable(dtype, out.scalar_type());
  autograd::check_not_inference_tensor(out);
  check_no_internal_overlap(impl_of(out));
  resize_out(out, sizes);
}

BoundOutputs::BoundOutputs(OpCall& call, const InferContext& inferred) : call_(call) {
  const size_t count = call.outputs.size();
  tensors_.resize(count);
  write_modes_.resize(count);
  for (size_t i = 0; i < count; ++i)
    if (call.outputs[i].defined()) check(call.outputs[i], inferred.out(int(i)));
  if (call.op.functor >= 0) check_dtype(*call.op.info, inferred.compute_dtype);
  if (count > 1) check_outputs_disjoint(call.outputs);
  for (size_t i = 0; i < count; ++i)
    if (call.outputs[i].defined()) choose_write_mode(i, inferred.out(int(i)));
  for (size_t i = 0; i < count; ++i) bind(i, inferred.out(int(i)));
}

void BoundOutputs::check(const Tensor& target, const InferContext::Output& wanted) const {
  if (!call_.op.info->accepts_expanded) check_no_internal_overlap(impl_of(target));
  if (call_.binding == Binding::kInplace) check_inplace_shape(target, wanted.sizes);
  check_castable(wanted.dtype, target.scalar_type());
}

/// Chooses how the result gets into target i; throws if PyTorch refuses an input that overlaps it.
/// Runs before any target is changed.
void BoundOutputs::choose_write_mode(size_t i, const InferContext::Output& wanted) {
  const Tensor& target = call_.outputs[i];
  check_inputs(impl_of(target));
  const bool needs_resize = wanted.late || !target.sizes().equals(wanted.sizes);
  if (wanted.late || (needs_resize && shares_memory_with_input(call_, target)))
    write_modes_[i] = WriteMode::kResizeLate;
  else
    write_modes_[i] = writes_directly(i, wanted) ? WriteMode::kDirect : WriteMode::kCopy;
}

void BoundOutputs::bind(size_t i, const InferContext::Output& wanted) {
  const Tensor& target = call_.outputs[i];
  const Device device = impl_of(call_.outputs[0]).device;
  if (target.defined() && write_modes_[i] != WriteMode::kResizeLate)
    resize_out(target, wanted.sizes);
  if (target.defined() && write_modes_[i] == WriteMode::kDirect)
    tensors_[i] = target;
  else if (wanted.late)
    tensors_[i] = new_tensor(wanted.dtype, device);
  else if (wanted.defined)
    tensors_[i] = allocate_tensor(wanted.sizes, wanted.dtype, device);
}

/// Throws if PyTorch refuses an input that certainly shares memory with the target.
void BoundOutputs::check_inputs(const TensorImpl& target) const {
  const OpInfo& info = *call_.op.info;
  const bool is_pointwise = call_.op.functor >= 0;
  if (!is_pointwise && info.sharing == Sharing::kTemporary) return;
  const bool is_inplace = call_.binding == Binding::kInplace;
  if (is_pointwise && !is_inplace && has_wrapped_number(call_)) return;  // as in LibTorch
  for (int k = is_pointwise ? 0 : 1; k < call_.inputs.count; ++k) {
    if (!call_.inputs[k].defined()) continue;
    const TensorImpl& in = impl_of(call_.inputs[k]);
    if (in.storage != target.storage) continue;
    if (info.sharing == Sharing::kAtIndices || !have_same_memory_layout(target, in))
      check_not_overlapping(target, in);
  }
}

/// Whether the op may write to target i while it reads its inputs.
bool BoundOutputs::writes_directly(size_t i, const InferContext::Output& wanted) const {
  const OpInfo& info = *call_.op.info;
  const TensorImpl& target = impl_of(call_.outputs[i]);
  const bool is_pointwise = call_.op.functor >= 0;
  if (!is_pointwise && target.dtype != wanted.dtype) return false;
  for (int k = 0; k < call_.inputs.count; ++k) {
    if (!call_.inputs[k].defined()) continue;
    const TensorImpl& in = impl_of(call_.inputs[k]);
    if (!ranges_overlap(in, target)) continue;
    if (!same_geometry(in, target)) return false;
    if (!is_pointwise && !(info.runs_inplace && k == 0 && i == 0)) return false;
  }
  return true;
}

void BoundOutputs::finish() {
  const AutoGradMode off(false);
  for (size_t i = 0; i < call_.outputs.size(); ++i) {
    const Tensor& target = call_.outputs[i];
    if (!target.defined()) {
      call_.outputs[i] = tensors_[i];
    } else if (write_modes_[i] == WriteMode::kDirect) {
      impl_of(target).bump_version();
    } else {
      if (write_modes_[i] == WriteMode::kResizeLate) resize_out(target, Dims(tensors_[i].sizes()));
      target.detach().copy_(tensors_[i]);
    }
  }
}

}  // namespace hearth
