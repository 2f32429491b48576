#include "ops/copy.h"

#include <cstring>

#include "core/faults.h"
#include "core/pinned_allocator.h"
#include "core/streams.h"
#include "functors/arithmetic.h"
#include "hearth/autograd.h"
#include "kernels/backend.h"
#include "ops/binding.h"
#include "ops/create.h"
#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

namespace {

PointwiseParams as_copy(PointwiseParams params) {
  params.functor = fn::number_of<fn::Copy>;
  return params;
}

/// An impl that stands for a view, without owning anything.
void describe(TensorImpl& impl, const View& view) {
  impl.dtype = view.dtype;
  impl.set_geometry({view.sizes, size_t(view.dim)}, {view.strides, size_t(view.dim)});
}

}  // namespace

void launch_copy(Ctx& ctx, const TensorImpl& to, const TensorImpl& from) {
  if (to.numel == 0) return;
  const TensorImpl* in[] = {&from};
  launch(ctx, as_copy(pointwise_params(to, in, 1, to.dtype)));
}

void launch_copy(Ctx& ctx, const View& to, const View& from) {
  if (to.numel == 0) return;
  TensorImpl target, source;
  describe(target, to);
  describe(source, from);
  const TensorImpl* in[] = {&source};
  PointwiseParams params = as_copy(pointwise_params(target, in, 1, to.dtype));
  params.out.data = to.data;
  params.in[0].data = from.data;
  launch(ctx, params);
}

void launch_add(Ctx& ctx, const View& to, const View& from) {
  if (to.numel == 0) return;
  TensorImpl target, source;
  describe(target, to);
  describe(source, from);
  const TensorImpl* in[] = {&target, &source};
  PointwiseParams params = pointwise_params(target, in, 2, to.dtype);
  const fn::Add add{};
  params.functor = fn::number_of<fn::Add>;
  std::memcpy(params.parameters, &add, sizeof add);
  params.out.data = params.in[0].data = to.data;
  params.in[1].data = from.data;
  launch(ctx, params);
}

/// Every element of `to` becomes that number. Elements that share memory are written once.
void launch_fill(Ctx& ctx, View to, const TensorImpl& number) {
  if (to.numel == 0) return;
  for (int d = 0; d < to.dim; ++d)
    if (to.strides[d] == 0) to.sizes[d] = 1;
  TensorImpl target;
  describe(target, to);
  const TensorImpl* in[] = {&number};
  PointwiseParams params = as_copy(pointwise_params(target, in, 1, to.dtype));
  params.out.data = to.data;
  launch(ctx, params);
}

void launch_fill(Ctx& ctx, const View& to, double value) {
  launch_fill(ctx, to, impl_of(wrapped_number(value)));
}

Dims strides_for(const TensorImpl& source, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous: return contiguous_strides(source.sizes());
    case MemoryFormat::ChannelsLast:
      HEARTH_CHECK(source.dim == 4, "required rank 4 tensor to use channels_last format");
      return channels_last_strides(source.sizes());
    case MemoryFormat::ChannelsLast3d:
      HEARTH_CHECK(source.dim == 5, "required rank 5 tensor to use channels_last_3d format");
      return channels_last_strides(source.sizes());
    default: break;
  }
  if (source.has(kDense)) return source.strides();
  // Not dense: the same order of dimensions in memory, without gaps.
  Dims order = Dims::uninitialized(size_t(source.dim));
  for (size_t d = 0; d < order.size(); ++d) {
    size_t k = d;
    for (; k > 0 && source.strides()[size_t(order[k - 1])] < source.strides()[d]; --k)
      order[k] = order[k - 1];
    order[k] = int64_t(d);
  }
  Dims strides = Dims::uninitialized(order.size());
  int64_t step = 1;
  for (size_t k = order.size(); k-- > 0;) {
    strides[size_t(order[k])] = step;
    step *= std::max<int64_t>(source.sizes()[size_t(order[k])], 1);
  }
  return strides;
}

namespace {

void infer_copy(Infer& c, ScalarType dtype, MemoryFormat format) {
  Infer::Output& out = c.out();
  out.dtype = dtype;
  out.sizes = c.in(0).sizes();
  out.strides = strides_for(c.in(0), format);
  out.has_strides = true;
}

/// A copy on the same device.
struct Clone {
  struct Args {
    MemoryFormat format;
    HEARTH_FIELDS(format)
  };
  static constexpr OpInfo info{.name = "clone"};
  static void infer(const Args& args, Infer& c) { infer_copy(c, c.in(0).dtype, args.format); }
  static void launch(const Args&, Launch& c) { launch_copy(c.ctx, c.out_impl(), c.in_impl(0)); }
  static void grad(const Args&, Grad& c) { c.set(0, c.grad()); }
};

/// A copy on the same device in another dtype.
struct ToCopy {
  struct Args {
    ScalarType dtype;
    MemoryFormat format;
    HEARTH_FIELDS(dtype, format)
  };
  static constexpr OpInfo info{.name = "_to_copy", .node = "ToCopy"};
  static void infer(const Args& args, Infer& c) { infer_copy(c, args.dtype, args.format); }
  static void launch(const Args&, Launch& c) { launch_copy(c.ctx, c.out_impl(), c.in_impl(0)); }
  static void grad(const Args&, Grad& c) { c.set(0, c.grad().to(c.in_dtype(0))); }
};

/// Copies a contiguous tensor's bytes to another device.
struct Transfer {
  struct Args {
    Device device;
    bool non_blocking;
    HEARTH_FIELDS(device, non_blocking)
  };
  static constexpr OpInfo info{.name = "_transfer", .node = "ToCopy", .mixes_devices = true};
  static void infer(const Args& args, Infer& c) {
    c.set(0, c.in(0).sizes(), c.in(0).dtype);
    c.out().device = args.device;
    c.out().has_device = true;
  }
  static void launch(const Args& args, Launch& c);
  static void grad(const Args& args, Grad& c) {
    c.set(0, transfer(c.grad(), c.in_device(0), args.non_blocking));
  }
};

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

void copy_to_gpu(const TensorImpl& to, const TensorImpl& from, size_t bytes, bool non_blocking) {
  Backend& backend = backend_of(to.device);
  const StreamHandle stream = current_stream(to.device);
  backend.copy(to.data(), from.data(), bytes, CopyKind::kHostToDevice, to.device.index(), stream);
  if (!is_pinned(from.data())) return;
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
  FaultSlot* faults = backend.fault_slot(from.device.index(), stream);
  check_fault(*faults);
}

void Transfer::launch(const Args& args, Launch& c) {
  const TensorImpl &to = c.out_impl(), &from = c.in_impl(0);
  const size_t bytes = size_t(to.numel) * element_size(to.dtype);
  if (bytes == 0 || to.device.is_meta()) return;
  if (from.device.is_cuda() && to.device.is_cuda())
    copy_between_gpus(to, from, bytes);
  else if (to.device.is_cuda())
    copy_to_gpu(to, from, bytes, args.non_blocking);
  else if (from.device.is_cuda())
    copy_to_host(to, from, bytes, args.non_blocking);
  else
    std::memcpy(to.data(), from.data(), bytes);
}

/// self = src, on one device. fill_ and zero_ write one number, into expanded tensors too.
template <const OpInfo& facts>
struct CopyInto {
  struct Args {};
  static constexpr OpInfo info = facts;
  static void infer(const Args&, Infer& c) {
    const TensorImpl &self = c.in(0), &src = c.in(1);
    const bool number = src.dim == 0 && src.device.is_cpu();
    HEARTH_CHECK(number || src.device == self.device,
                 "Expected all tensors to be on the same device, but found at "
                 "least two devices, ",
                 self.device, " and ", src.device, "! (argument src of ", facts.name, ")");
    const Dims sizes = broadcast_sizes(self.sizes(), src.sizes());
    HEARTH_CHECK(sizes == Dims(self.sizes()), "output with shape ", self.sizes(),
                 " doesn't match the broadcast shape ", sizes);
    c.set(0, self.sizes(), self.dtype);
  }
  static void launch(const Args&, Launch& c) {
    if (info.fills)
      launch_fill(c.ctx, c.out(), c.in_impl(1));
    else
      launch_copy(c.ctx, c.out_impl(), c.in_impl(1));
  }
  static void grad(const Args&, Grad& c) {
    if (c.needs(0)) c.set(0, zeros_like(c.grad()));
    if (c.needs(1)) c.set(1, c.grad().sum_to_size(c.in_sizes(1)));
  }
};
constexpr OpInfo kCopy{.name = "copy_",
                       .node = "Copy",
                       .arguments = "self,src",
                       .runs_inplace = true,
                       .mixes_devices = true};
constexpr OpInfo kFill{.name = "fill_",
                       .node = "Fill",
                       .arguments = "self,value",
                       .runs_inplace = true,
                       .mixes_devices = true,
                       .fills = true};

Tensor copy_in_format(const Tensor& self, std::optional<MemoryFormat> format) {
  return invoke<Clone>({format.value_or(MemoryFormat::Preserve)}, self).call();
}

Tensor& copy_from(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor& target = const_cast<Tensor&>(self);
  HEARTH_CHECK(self.defined() && src.defined(),
               "copy_: expected proper tensors, got an undefined one");
  if (self.is_same(src)) return target;
  const bool number = src.dim() == 0 && src.is_cpu();
  if (number || self.device() == src.device())
    return invoke<CopyInto<kCopy>>({}, self, src).inplace(self);
  HEARTH_CHECK(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  if (self.is_meta()) {
    broadcast_sizes(self.sizes(), src.sizes());
    return target;
  }
  const bool recorded = modes.grad_enabled && (self.requires_grad() || src.requires_grad());
  if (!recorded && self.is_contiguous() && self.scalar_type() == src.scalar_type() &&
      self.sizes().equals(src.sizes())) {
    const Tensor packed = src.contiguous();
    return invoke<Transfer>({self.device(), non_blocking}, packed).out(target);
  }
  return invoke<CopyInto<kCopy>>({}, self, transfer(src, self.device(), non_blocking))
      .inplace(self);
}

Tensor move_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
               std::optional<MemoryFormat> format) {
  device = resolve_device(device);
  dtype = resolve_dtype(dtype);
  const bool reformat = format && *format != MemoryFormat::Preserve && !self.is_contiguous(*format);
  if (self.device() == device && self.scalar_type() == dtype && !copy && !reformat) return self;
  const MemoryFormat wanted = format.value_or(MemoryFormat::Preserve);
  if (self.device() == device) return invoke<ToCopy>({dtype, wanted}, self).call();
  // Convert where fewer bytes travel.
  const bool convert_first = element_size(dtype) < self.itemsize();
  Tensor moved = transfer(convert_first ? self.to(dtype) : self, device, non_blocking);
  const bool dense_permuted =
      !format && self.is_non_overlapping_and_dense() && !self.is_contiguous();
  if (dense_permuted) {
    Tensor shaped =
        empty_strided(self.sizes(), self.strides(), TensorOptions(dtype).device(device));
    return shaped.copy_(moved);
  }
  if (moved.scalar_type() != dtype) moved = moved.to(dtype);
  return format ? moved.contiguous(wanted == MemoryFormat::Preserve ? MemoryFormat::Contiguous
                                                                    : wanted)
                : moved;
}

}  // namespace

Tensor transfer(const Tensor& self, Device device, bool non_blocking) {
  HEARTH_CHECK(!self.is_meta() || device.is_meta(),
               "Cannot copy out of meta tensor; no data! Please use "
               "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module from "
               "meta to a different "
               "device.");
  return invoke<Transfer>({device, non_blocking}, self.contiguous()).call();
}

HEARTH_DEFINE_METHOD(Tensor, clone, (std::optional<MemoryFormat> format),
                     copy_in_format(self, format))
HEARTH_DEFINE_METHOD(Tensor, contiguous, (MemoryFormat format),
                     self.is_contiguous(format) ? self : self.clone(format))

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  return copy_from(self, src, non_blocking);
}
Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) const {
  return copy_from(*this, src, non_blocking);
}

namespace {

/// A number that fits self's dtype; a tensor without data takes any.
Tensor fill_value(const Tensor& self, const Scalar& value) {
  return wrapped_number(self.is_meta() ? value : value.stored_as(self.scalar_type()));
}

/// A tensor is taken as copy_ takes it: without a check of its value, from any device, and not into
/// expanded tensors.
Tensor fill_value(const Tensor& self, const Tensor& value) {
  HEARTH_CHECK(value.dim() == 0,
               "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
               " dimensions.");
  check_no_internal_overlap(self);
  return value.is_cpu() ? value : value.to(self.device(), value.scalar_type());
}

}  // namespace

HEARTH_DEFINE_INPLACE(fill_, (const Scalar& value),
                      invoke<CopyInto<kFill>>({}, self, fill_value(self, value)))
HEARTH_DEFINE_INPLACE(fill_, (const Tensor& value),
                      invoke<CopyInto<kFill>>({}, self, fill_value(self, value)))
HEARTH_DEFINE_INPLACE(zero_, (), invoke<CopyInto<kFill>>({}, self, wrapped_number(0)))

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  HEARTH_CHECK(
      !options.has_requires_grad() || !options.requires_grad(),
      "to(options) expects unset requires_grad flag, but got options.requires_grad set as true");
  return move_to(*this, options.device_opt().value_or(device()),
                 options.dtype_opt().value_or(scalar_type()), non_blocking, copy,
                 format ? format : options.memory_format_opt());
}
Tensor Tensor::to(Device where, ScalarType type, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return move_to(*this, where, type, non_blocking, copy, format);
}
Tensor Tensor::to(ScalarType type, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return move_to(*this, device(), type, non_blocking, copy, format);
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy) const {
  return move_to(*this, other.device(), other.scalar_type(), non_blocking, copy, {});
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
  HEARTH_CHECK(!is_meta(), "Tensor.item() cannot be called on meta tensors");
  const AutoGradMode off(false);
  const Tensor host = is_cpu() ? *this : transfer(*this, Device(DeviceType::CPU), false);
  switch (scalar_type()) {
#define HEARTH_READ(type, Name) \
  case ScalarType::Name: return read_number<type>(host.data_ptr());
    HEARTH_DTYPES(HEARTH_READ)
#undef HEARTH_READ
    default: return 0;
  }
}

}  // namespace hearth
