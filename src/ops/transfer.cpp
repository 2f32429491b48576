#include <cstring>

#include "core/backends.h"
#include "core/pinned_allocator.h"
#include "core/step_clock.h"
#include "core/streams.h"
#include "hearth/autograd.h"
#include "hearth/float8.h"
#include "ops/binding.h"
#include "ops/copy.h"
#include "ops/create.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// A copy on the same device in a given dtype and memory format.
struct ToCopy {
  struct Args {
    ScalarType dtype;
    MemoryFormat format;
    HEARTH_FIELDS(dtype, format)
  };
  static constexpr OpInfo info{.name = "_to_copy",
                               .node = "ToCopy",
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    infer_copy(context, args.dtype, args.format);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out_impl(), context.in_impl(0));
  }
  static void grad(const Args&, GradContext& context) {
    const Tensor& grad = context.grad();
    const ScalarType wanted = context.in_dtype(0);
    context.set(0, (is_complex(wanted) || !grad.is_complex() ? grad : real(grad)).to(wanted));
  }
};

/// Copies a tensor without gaps to another device, with the same strides.
struct Transfer {
  struct Args {
    Device device;
    bool non_blocking;
    HEARTH_FIELDS(device, non_blocking)
  };
  static constexpr OpInfo info{.name = "_transfer",
                               .node = "ToCopy",
                               .accepts_stored = true,
                               .mixes_devices = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
    context.out().strides = context.in(0).strides();
    context.out().has_strides = true;
    context.out().device = args.device;
    context.out().has_device = true;
  }
  static void launch(const Args& args, LaunchContext& context);
  static void grad(const Args& args, GradContext& context) {
    context.set(0, transfer(context.grad(), context.in_device(0), args.non_blocking));
  }
};

/// Copies on the current stream of the source's device, after the earlier and before the later work
/// of the current stream of the target's device.
void copy_between_gpus(const TensorImpl& to, const TensorImpl& from, size_t bytes) {
  Backend& backend = backend_of(from.device);
  const StreamHandle source = current_stream(from.device), target = current_stream(to.device);
  const EventHandle ready = backend.create_event(to.device.index(), false);
  backend.record(ready, to.device.index(), target);
  backend.wait(from.device.index(), source, ready);
  backend.destroy_event(ready);
  backend.copy_peer(to.data(), to.device.index(), from.data(), from.device.index(), bytes, source);
  const EventHandle done = backend.create_event(from.device.index(), false);
  backend.record(done, from.device.index(), source);
  backend.wait(to.device.index(), target, done);
  backend.destroy_event(done);
}

/// Without non_blocking, waits for the copy, so that any stream may read the result.
void copy_to_gpu(const TensorImpl& to, const TensorImpl& from, size_t bytes, bool non_blocking) {
  const StepWaitTimer timer(StepWait::kCopies);
  Backend& backend = backend_of(to.device);
  const StreamHandle stream = current_stream(to.device);
  backend.copy(to.data(), from.data(), bytes, CopyKind::kHostToDevice, to.device.index(), stream);
  if (non_blocking)
    pinned_record(from.data(), to.device, stream);
  else
    backend.synchronize(to.device.index(), stream);
}

void copy_to_host(const TensorImpl& to, const TensorImpl& from, size_t bytes, bool non_blocking) {
  Backend& backend = backend_of(from.device);
  const StreamHandle stream = current_stream(from.device);
  backend.copy(to.data(), from.data(), bytes, CopyKind::kDeviceToHost, from.device.index(), stream);
  if (non_blocking && is_pinned(to.data())) {
    pinned_record(to.data(), from.device, stream);
    return;
  }
  backend.synchronize(from.device.index(), stream);
  check_stream_fault(from.device.index(), stream);
}

void Transfer::launch(const Args& args, LaunchContext& context) {
  const TensorImpl &to = context.out_impl(), &from = context.in_impl(0);
  const size_t bytes = size_t(to.numel) * element_size(to.dtype);
  if (to.device.is_meta()) return;
  if (from.device.is_cuda() && to.device.is_cuda())
    copy_between_gpus(to, from, bytes);
  else if (to.device.is_cuda())
    copy_to_gpu(to, from, bytes, args.non_blocking);
  else if (from.device.is_cuda())
    copy_to_host(to, from, bytes, args.non_blocking);
  else
    std::memcpy(to.data(), from.data(), bytes);
}

/// The tensor itself if it has this dtype and the strides that a copy in this format gets, else
/// such a copy.
Tensor converted(const Tensor& self, ScalarType dtype, MemoryFormat format) {
  const bool needs_no_copy = self.scalar_type() == dtype && self.is_non_overlapping_and_dense() &&
                             self.strides().equals(strides_for(impl_of(self), format));
  return needs_no_copy ? self : invoke<ToCopy>({dtype, format}, self).call();
}

/// Converts the tensor on its device and copies it to another one.
Tensor transfer_converted(const Tensor& self, ScalarType dtype, Device device, bool non_blocking,
                          MemoryFormat format) {
  HEARTH_CHECK(!self.is_meta() || device.is_meta(),
               "Cannot copy out of meta tensor; no data! Please use "
               "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module from "
               "meta to a different "
               "device.");
  return invoke<Transfer>({device, non_blocking}, converted(self, dtype, format)).call();
}

Tensor move_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
               std::optional<MemoryFormat> format) {
  device = resolve_device(device);
  dtype = resolve_dtype(dtype);
  const bool needs_format =
      format && *format != MemoryFormat::Preserve && !self.is_contiguous(*format);
  if (self.device() == device && self.scalar_type() == dtype && !copy && !needs_format) return self;
  warn_of_lost_imaginary_part(self.scalar_type(), dtype);
  const MemoryFormat wanted = format.value_or(MemoryFormat::Preserve);
  if (self.device() == device) return invoke<ToCopy>({dtype, wanted}, self).call();
  // Converts before the transfer if that leaves fewer bytes to copy, else after it.
  const bool converts_first = element_size(dtype) < self.itemsize();
  const Tensor transferred = transfer_converted(self, converts_first ? dtype : self.scalar_type(),
                                                device, non_blocking, wanted);
  return transferred.scalar_type() == dtype ? transferred : transferred.to(dtype);
}

}  // namespace

Tensor transfer(const Tensor& self, Device device, bool non_blocking) {
  return transfer_converted(self, self.scalar_type(), device, non_blocking,
                            MemoryFormat::Contiguous);
}

Tensor& transfer_into(Tensor& to, const Tensor& packed, bool non_blocking) {
  return invoke<Transfer>({to.device(), non_blocking}, packed).out(to);
}

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  HEARTH_CHECK(
      !options.has_requires_grad() || !options.requires_grad(),
      "to(options) expects unset requires_grad flag, but got options.requires_grad set as true");
  return move_to(*this, options.device_opt().value_or(device()),
                 options.dtype_opt().value_or(scalar_type()), non_blocking, copy,
                 format ? format : options.memory_format_opt());
}
Tensor Tensor::to(Device target_device, ScalarType type, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return move_to(*this, target_device, type, non_blocking, copy, format);
}
Tensor Tensor::to(ScalarType type, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return move_to(*this, device(), type, non_blocking, copy, format);
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return move_to(*this, other.device(), other.scalar_type(), non_blocking, copy, format);
}
Tensor Tensor::cpu() const { return to(Device(DeviceType::CPU), scalar_type()); }
Tensor Tensor::cuda() const { return to(Device(DeviceType::CUDA), scalar_type()); }

Tensor Tensor::pin_memory() const {
  HEARTH_CHECK(is_cpu(), "cannot pin '", toString(), "' only dense CPU tensors can be pinned");
  if (is_pinned()) return *this;
  Tensor pinned = allocate_strided(sizes(), strides_for(impl_of(*this), MemoryFormat::Preserve),
                                   scalar_type(), device(), true);
  return pinned.copy_(*this);
}

namespace {

template <class T>
Scalar read_number(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

Scalar Tensor::item() const {
  HEARTH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  HEARTH_CHECK_AS(NotImplementedError, !is_meta(),
                  "Tensor.item() cannot be called on meta tensors");
  const AutoGradMode off(false);
  const Tensor host = is_cpu() ? *this : transfer(*this, Device(DeviceType::CPU), false);
  switch (scalar_type()) {
#define HEARTH_READ(type, Name) \
  case ScalarType::Name: return read_number<type>(host.data_ptr());
    HEARTH_ALL_DTYPES(HEARTH_READ)
#undef HEARTH_READ
    default: return 0;
  }
}

}  // namespace hearth
