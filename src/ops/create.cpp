#include "ops/create.h"

#include <cmath>
#include <limits>

#include "autograd/state.h"
#include "core/backends.h"
#include "core/modes.h"
#include "core/streams.h"
#include "core/tensor_impl.h"
#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/call.h"
#include "ops/copy.h"
#include "ops/fill_range.h"

namespace hearth {

Device resolve_device(Device device) {
  if (device.is_cpu()) return Device(DeviceType::CPU);
  if (!device.is_cuda()) return Device(device.type());
  const Device resolved(DeviceType::CUDA,
                        device.has_index() ? device.index() : current_cuda_device());
  backend_of(resolved);
  return resolved;
}

ScalarType resolve_dtype(ScalarType dtype) {
  HEARTH_CHECK(element_size(dtype) > 0, "ScalarType ", int(dtype),
               " is not a dtype of tensor elements");
  return dtype;
}

TensorOptions like_options(const Tensor& self, const TensorOptions& options) {
  return self.options().merge_in(options);
}

namespace {

/// Writes what shows at once that nobody has written there.
void mark_unwritten(const Tensor& tensor) {
  const AutoGradMode off(false);
  const ScalarType dtype = tensor.scalar_type();
  if (is_differentiable(dtype)) {
    tensor.fill_(std::numeric_limits<double>::quiet_NaN());
  } else if (dtype == kBool) {
    tensor.fill_(true);
  } else {
    const int bits = 8 * int(element_size(dtype)) - (dtype != kByte);
    tensor.fill_(int64_t((uint64_t(1) << bits) - 1));
  }
}

bool marks_unwritten() {
  return are_deterministic_algorithms_enabled() &&
         globalContext().deterministicFillUninitializedMemory();
}

/// New memory that is handed out without values.
Tensor unwritten(Tensor tensor) {
  if (marks_unwritten()) mark_unwritten(tensor);
  return tensor;
}

}  // namespace

Tensor finish_new(Tensor tensor, const TensorOptions& options) {
  if (modes.flags & kInferenceMode) impl_of(tensor).flags |= kInference;
  impl_of(tensor).reset_version();
  if (options.requires_grad()) tensor.requires_grad_();
  return tensor;
}

namespace {

/// The options without what must wait until the values are there.
TensorOptions bare(const TensorOptions& options) { return options.requires_grad(false); }

ScalarType dtype_from(const TensorOptions& options) {
  return resolve_dtype(options.dtype_or_default());
}

ScalarType number_dtype(const TensorOptions& options, const Scalar& value) {
  if (options.has_dtype()) return dtype_from(options);
  if (value.isFloatingPoint()) return get_default_dtype();
  if (value.isComplex()) return get_default_dtype() == kDouble ? kComplexDouble : kComplexFloat;
  return value.type();
}

}  // namespace

Scalar bound_of(const Tensor& bound, const char* op) {
  HEARTH_CHECK(bound.dim() == 0, op, " only supports 0-dimensional start and end tensors, but got ",
               bound.dim(), "D tensor.");
  return bound.item();
}

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
        unwritten(allocate_tensor(size, dtype_from(options), device, options.pinned_memory())),
        options);
  TensorImpl geometry;
  geometry.set_sizes(size);
  return finish_new(
      unwritten(allocate_strided(size, strides_for(geometry, wanted), dtype_from(options), device,
                                 options.pinned_memory())),
      options);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  return finish_new(
      unwritten(allocate_strided(size, stride, dtype_from(options),
                                 resolve_device(options.device()), options.pinned_memory())),
      options);
}

Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  Tensor tensor = empty(size, bare(options).dtype(number_dtype(options, value)));
  {
    const AutoGradMode off(false);
    tensor.fill_(value);
  }
  return finish_new(std::move(tensor), options);
}

Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  return full(size, 0, options.dtype(dtype_from(options)));
}
Tensor ones(IntArrayRef size, const TensorOptions& options) {
  return full(size, 1, options.dtype(dtype_from(options)));
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  // PyTorch checks the value for all dtypes but the half ones: there, too large is infinite.
  const ScalarType dtype = dtype_from(options);
  const bool rounds = is_reduced_float(dtype) && !value.isComplex();
  const float rounded = rounds ? float(value.toDouble()) : 0;
  return full({},
              !rounds          ? value
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
  Tensor tensor = empty_like(self, bare(options), format);
  {
    const AutoGradMode off(false);
    tensor.fill_(value);
  }
  return finish_new(std::move(tensor), options);
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

Tensor arange(const Scalar& end, const TensorOptions& options) {
  return arange(0, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const bool integral = start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
  const ScalarType dtype = options.has_dtype() ? dtype_from(options)
                           : integral          ? kLong
                                               : get_default_dtype();
  const double low = start.toDouble(), high = end.toDouble(), by = step.toDouble();
  HEARTH_CHECK(std::isfinite(by), "step must be finite but got ", by);
  HEARTH_CHECK(by != 0, "step must be nonzero");
  HEARTH_CHECK(std::isfinite(low) && std::isfinite(high), "unsupported range: ", low, " -> ", high);
  HEARTH_CHECK((by > 0) == (high >= low) || high == low,
               "upper bound and lower bound inconsistent with step sign");
  int64_t count = 0;
  if (integral) {
    const int64_t width = step.toLong();
    int64_t span;
    HEARTH_CHECK(!__builtin_sub_overflow(end.toLong(), start.toLong(), &span) &&
                     !(width == -1 && span == INT64_MIN),
                 "invalid size, possible overflow?");
    count = span / width + (span % width != 0);
  } else {
    const double exact = std::ceil((high - low) / by);
    HEARTH_CHECK(exact >= 0 && exact < 0x1p62, "invalid size, possible overflow?");
    count = static_cast<int64_t>(exact);
  }
  Tensor tensor = empty({count}, bare(options).dtype(dtype));
  fill_arange(tensor, start, step);
  return finish_new(std::move(tensor), options);
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  HEARTH_CHECK(steps >= 0, "number of steps must be non-negative");
  Tensor tensor = empty({steps}, bare(options));
  fill_linspace(tensor, start, end);
  return finish_new(std::move(tensor), options);
}

Tensor linspace(const Tensor& start, const Tensor& end, int64_t steps,
                const TensorOptions& options) {
  return linspace(bound_of(start, "linspace"), bound_of(end, "linspace"), steps, options);
}
Tensor linspace(const Tensor& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  return linspace(bound_of(start, "linspace"), end, steps, options);
}
Tensor linspace(const Scalar& start, const Tensor& end, int64_t steps,
                const TensorOptions& options) {
  return linspace(start, bound_of(end, "linspace"), steps, options);
}

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }
Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  HEARTH_CHECK(n >= 0 && m >= 0, n < 0 ? "n" : "m", " must be greater or equal to 0, got ",
               n < 0 ? n : m);
  Tensor tensor = zeros({n, m}, bare(options));
  const int64_t diagonal = std::min(n, m);
  if (diagonal > 0) tensor.as_strided({diagonal}, {m + 1}).fill_(1);
  return finish_new(std::move(tensor), options);
}

}  // namespace by_name

namespace {

/// Throws unless `data` is memory of the device.
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
  for (int64_t s : stride)
    HEARTH_CHECK(s >= 0, "from_blob: negative strides are not supported, got ", stride);
  HEARTH_CHECK(data || impl.numel == 0, "from_blob: the pointer is null but the tensor has ",
               impl.numel, " elements");
  check_owner(data, device);
  const size_t nbytes = span_bytes(size, stride, 0, element_size(impl.dtype));
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
  check_defined("resize_", 0, "self", self);
  autograd::check_no_inference(self);
  const size_t itemsize = self.itemsize();
  const int64_t written = self.is_meta() ? 0 : int64_t(self.storage().nbytes() / itemsize);
  HEARTH_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  HEARTH_CHECK(format != MemoryFormat::Preserve, "Unsupported memory formatPreserve");
  if (format) {
    TensorImpl geometry;
    geometry.set_sizes(size);
    resize_tensor(self, size, strides_for(geometry, *format));
  } else if (!self.sizes().equals(size)) {
    resize_tensor(self, size);
  }
  if (marks_unwritten() && !self.is_meta())
    if (const int64_t all = int64_t(self.storage().nbytes() / itemsize); all > written)
      mark_unwritten(self.detach().as_strided({all - written}, {1}, written));
  return const_cast<Tensor&>(self);
}

}  // namespace

Tensor& resize_as_(Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> format) {
  return self.resize_as_(the_template, format);
}
Tensor& Tensor::resize_as_(const Tensor& the_template, std::optional<MemoryFormat> format) const {
  check_defined("resize_as_", 1, "the_template", the_template);
  const bool kept = format == MemoryFormat::Preserve;
  return resize(*this, the_template.sizes(),
                kept ? std::optional(the_template.suggest_memory_format()) : format);
}
Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> format) {
  return resize(self, size, format);
}
Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> format) const {
  return resize(*this, size, format);
}

}  // namespace hearth
