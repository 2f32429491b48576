#include "ops/create.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/state.h"
#include "core/backends.h"
#include "core/modes.h"
#include "core/streams.h"
#include "core/tensor_impl.h"
#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/binding.h"
#include "ops/composed_out.h"
#include "ops/copy.h"

namespace hearth {

Device resolve_device(Device device) {
  if (device.is_cpu()) return Device(DeviceType::CPU);
  if (device.is_meta()) return Device(DeviceType::Meta);
  HEARTH_CHECK(device.is_cuda(), "PyTorch is not linked with support for ", device.type(),
               " devices; Hearth has cpu, cuda and meta");
  const Device resolved(DeviceType::CUDA,
                        device.has_index() ? device.index() : current_cuda_device());
  backend_of(resolved);
  return resolved;
}

ScalarType resolve_dtype(ScalarType dtype) {
  HEARTH_CHECK(element_size(dtype) > 0, "ScalarType ", int(dtype), " (", name_of(dtype),
               ") is not a dtype of tensor elements");
  return dtype;
}

TensorOptions like_options(const Tensor& self, const TensorOptions& options) {
  return self.options().merge_in(options);
}

TensorOptions options_of(const Tensor& out) {
  HEARTH_CHECK(out.defined(), "Expected a proper Tensor but got an undefined one for argument out");
  return TensorOptions(out.scalar_type()).device(out.device());
}

Tensor& resized(Tensor& out, IntArrayRef size) {
  prepare_out(out, Dims(size), options_of(out).dtype_or_default());
  return out;
}

namespace {

/// Fills uninitialized memory with conspicuous values: NaN, true or the largest integer.
void fill_uninitialized(const Tensor& tensor) {
  const AutoGradMode off(false);
  const ScalarType dtype = tensor.scalar_type();
  if (is_differentiable(dtype)) {
    tensor.fill_(std::numeric_limits<double>::quiet_NaN());
  } else if (dtype == kBool) {
    tensor.fill_(true);
  } else {
    const int unused = 64 - 8 * int(element_size(dtype)) + (is_signed(dtype) ? 1 : 0);
    tensor.fill_(~uint64_t(0) >> unused);
  }
}

bool fills_uninitialized() {
  return are_deterministic_algorithms_enabled() &&
         globalContext().deterministicFillUninitializedMemory();
}

/// Returns the uninitialized tensor, filled if the deterministic mode requires that.
Tensor uninitialized(Tensor tensor) {
  if (fills_uninitialized()) fill_uninitialized(tensor);
  return tensor;
}

}  // namespace

Tensor finish_new(Tensor tensor, const TensorOptions& options) {
  if (modes.flags & kInferenceMode) impl_of(tensor).flags |= kInference;
  impl_of(tensor).set_version(0);
  if (options.requires_grad()) tensor.requires_grad_();
  return tensor;
}

namespace {

ScalarType dtype_from(const TensorOptions& options) {
  HEARTH_CHECK_AS(NotImplementedError, options.layout() == Layout::Strided,
                  "Hearth has only strided tensors, not those of the layout ", options.layout());
  return resolve_dtype(options.dtype_or_default());
}

/// The dtype of a tensor filled with `value`.
ScalarType number_dtype(const TensorOptions& options, const Scalar& value) {
  if (options.has_dtype()) return dtype_from(options);
  if (value.isFloatingPoint()) return get_default_dtype();
  if (value.isComplex()) return to_complex(get_default_dtype());
  return value.type();
}

/// The strides of a tensor whose dimensions lie in memory in this order, the outermost first.
Dims permuted_strides(IntArrayRef size, IntArrayRef order) {
  const int64_t dims = int64_t(size.size());
  HEARTH_CHECK(size.size() == order.size(),
               "Number of dimensions in size does not match the length of the physical_layout; "
               "i.e. len(size) = ",
               size.size(), " is not equal to len(physical_layout) = ", order.size());
  Dims strides(size.size(), 0);
  std::vector<bool> seen(size.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    HEARTH_CHECK(order[i] >= 0 && order[i] < dims,
                 "Dimension out of range (expected to be between 0 and ", dims - 1, ", but got ",
                 order[i], " at index ", i,
                 ").  NB: negative dims not currently supported; file an issue if you want it.");
    const size_t d = size_t(order[i]);
    HEARTH_CHECK(!seen[d], "Duplicate dim not allowed");
    seen[d] = true;
    strides[d] = stride;
    stride *= std::max<int64_t>(size[d], 1);
  }
  return strides;
}

}  // namespace

namespace by_name {

Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format) {
  HEARTH_CHECK(!(format && options.has_memory_format()),
               "Cannot set memory_format both in TensorOptions and explicit "
               "argument; please delete the redundant setter.");
  const Device device = resolve_device(options.device());
  HEARTH_CHECK(!options.pinned_memory() || device.is_cpu(), "Only dense CPU tensors can be pinned");
  const MemoryFormat wanted =
      format.value_or(options.memory_format_opt().value_or(MemoryFormat::Contiguous));
  if (wanted == MemoryFormat::Contiguous || wanted == MemoryFormat::Preserve)
    return finish_new(
        uninitialized(allocate_tensor(size, dtype_from(options), device, options.pinned_memory())),
        options);
  TensorImpl geometry;
  geometry.set_sizes(size);
  return finish_new(
      uninitialized(allocate_strided(size, strides_for(geometry, wanted), dtype_from(options),
                                     device, options.pinned_memory())),
      options);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  return finish_new(
      uninitialized(allocate_strided(size, stride, dtype_from(options),
                                     resolve_device(options.device()), options.pinned_memory())),
      options);
}

Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, const TensorOptions& options) {
  return empty_strided(size, permuted_strides(size, physical_layout), options);
}

Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  return filled(size, options.dtype(number_dtype(options, value)),
                [&](const Tensor& t) { t.fill_(value); });
}

Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  return full(size, 0, options.dtype(dtype_from(options)));
}
Tensor ones(IntArrayRef size, const TensorOptions& options) {
  return full(size, 1, options.dtype(dtype_from(options)));
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  // As in PyTorch, a value that is too large for a half dtype becomes infinite instead of an error.
  const ScalarType dtype = dtype_from(options);
  const bool needs_rounding = is_reduced_float(dtype) && !value.isComplex();
  const float rounded = needs_rounding ? float(value.toDouble()) : 0;
  return full({},
              !needs_rounding  ? value
              : dtype == kHalf ? Scalar(Half(rounded))
                               : Scalar(BFloat16(rounded)),
              options.dtype(dtype));
}

}  // namespace by_name

Tensor empty_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  const MemoryFormat wanted =
      format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
  return empty_strided(self.sizes(), strides_for(impl_of(self), wanted),
                       like_options(self, options));
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  return filled_like(self, options, format, [&](const Tensor& t) { t.fill_(value); });
}
Tensor zeros_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  return full_like(self, 0, options, format);
}
Tensor ones_like(const Tensor& self, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  return full_like(self, 1, options, format);
}

namespace by_name {

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }
Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  HEARTH_CHECK(n >= 0 && m >= 0, n < 0 ? "n" : "m", " must be greater or equal to 0, got ",
               n < 0 ? n : m);
  const int64_t diagonal = std::min(n, m);
  return filled({n, m}, options, [&](const Tensor& t) {
    t.zero_();
    if (diagonal > 0) t.as_strided({diagonal}, {m + 1}).fill_(1);
  });
}

}  // namespace by_name

namespace {

/// Throws unless `data` points to memory of the device.
void check_owner(const void* data, Device device) {
  Backend* const gpus = device.is_cuda() ? &backend_of(device) : cuda_backend_in_use();
  if (!gpus || !data || device.is_meta()) return;
  const Backend::Reach reach = gpus->reach_of(data);
  const Device owner(DeviceType::CUDA, static_cast<DeviceIndex>(reach.device));
  if (device.is_cpu()) {
    HEARTH_CHECK(reach.host, "from_blob: the pointer is to memory of ", owner,
                 ", but the options say ", device);
    return;
  }
  HEARTH_CHECK(reach.device != Backend::Reach::kNoDevice,
               "The specified pointer resides on host memory and is not registered with any CUDA "
               "device.");
  HEARTH_CHECK(reach.host || owner == device, "specified device ", device,
               " does not match device of data ", owner);
}

Tensor wrap_memory(void* data, IntArrayRef size, IntArrayRef stride,
                   std::function<void(void*)> deleter, const TensorOptions& options) {
  const Device device = resolve_device(options.device());
  Tensor tensor = new_tensor(dtype_from(options), device);
  TensorImpl& impl = impl_of(tensor);
  impl.set_geometry(size, stride);
  const size_t nbytes = span_bytes(size, stride, 0, element_size(impl.dtype));
  HEARTH_CHECK(data || impl.numel == 0, "from_blob: the pointer is null but the tensor has ",
               impl.numel, " elements");
  check_owner(data, device);
  auto storage = StoragePtr::adopt(new StorageImpl);
  storage->data = data;
  storage->nbytes = nbytes;
  storage->device = device;
  storage->borrowed = !deleter;
  storage->deleter = std::move(deleter);
  impl.storage = std::move(storage);
  return finish_new(std::move(tensor), options);
}

}  // namespace

namespace by_name {

Tensor from_blob(void* data, IntArrayRef size, const TensorOptions& options) {
  return wrap_memory(data, size, contiguous_strides(size), {}, options);
}
Tensor from_blob(void* data, IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  return wrap_memory(data, size, stride, {}, options);
}
Tensor from_blob(void* data, IntArrayRef size, std::function<void(void*)> deleter,
                 const TensorOptions& options) {
  return wrap_memory(data, size, contiguous_strides(size), std::move(deleter), options);
}
Tensor from_blob(void* data, IntArrayRef size, IntArrayRef stride,
                 std::function<void(void*)> deleter, const TensorOptions& options) {
  return wrap_memory(data, size, stride, std::move(deleter), options);
}

}  // namespace by_name

namespace {

Tensor& resize(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> format) {
  autograd::check_not_inference_tensor(self);
  const size_t itemsize = self.itemsize();
  const int64_t old_capacity = self.is_meta() ? 0 : int64_t(self.storage().nbytes() / itemsize);
  HEARTH_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  HEARTH_CHECK(!self._fw_grad(0).defined(), "cannot resize variables that has a forward grad");
  HEARTH_CHECK(format != MemoryFormat::Preserve, "Unsupported memory formatPreserve");
  if (format) {
    TensorImpl geometry;
    geometry.set_sizes(size);
    resize_tensor(self, size, strides_for(geometry, *format));
  } else if (!self.sizes().equals(size)) {
    resize_tensor(self, size);
  }
  if (fills_uninitialized() && !self.is_meta())
    if (const int64_t capacity = int64_t(self.storage().nbytes() / itemsize);
        capacity > old_capacity)
      fill_uninitialized(self.detach().as_strided({capacity - old_capacity}, {1}, old_capacity));
  return const_cast<Tensor&>(self);
}

Tensor& resize_as(const Tensor& self, const Tensor& other, std::optional<MemoryFormat> format) {
  check_defined("resize_as_", 1, "the_template", other);
  return resize(self, other.sizes(),
                format == MemoryFormat::Preserve ? other.suggest_memory_format() : format);
}

}  // namespace

HEARTH_DEFINE_INPLACE_AS(resize_as_,
                         (const Tensor& the_template, std::optional<MemoryFormat> format),
                         resize_as(self, the_template, format))
HEARTH_DEFINE_INPLACE_AS(resize_, (IntArrayRef size, std::optional<MemoryFormat> format),
                         resize(self, size, format))

Tensor& empty_permuted_out(Tensor& out, IntArrayRef size, IntArrayRef physical_layout) {
  permuted_strides(size, physical_layout);  // throws for an invalid layout
  return resized(out, size);
}
Tensor& empty_out(Tensor& out, IntArrayRef size, std::optional<MemoryFormat> format) {
  return format ? out.resize_(size, format) : resized(out, size);
}
Tensor& zeros_out(Tensor& out, IntArrayRef size) { return resized(out, size).zero_(); }
Tensor& ones_out(Tensor& out, IntArrayRef size) { return resized(out, size).fill_(1); }
Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& value) {
  return resized(out, size).fill_(value);
}
Tensor& eye_out(Tensor& out, int64_t n) { return eye_out(out, n, n); }
HEARTH_DEFINE_WRITE_OUT(eye, (int64_t n, int64_t m), eye(n, m, options_of(out)))

}  // namespace hearth
