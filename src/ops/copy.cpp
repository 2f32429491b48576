#include "ops/copy.h"

#include <atomic>
#include <cstring>

#include "autograd/tangents.h"
#include "functors/arithmetic.h"
#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/binding.h"
#include "ops/composed_out.h"
#include "ops/create.h"
#include "ops/define.h"
#include "ops/memory_order.h"
#include "ops/pointwise.h"

namespace hearth {

namespace {

template <class To, class From>
void copy_elements(Ctx& ctx, const To& to, const From& from) {
  if (to.numel == 0) return;
  const From* const in[] = {&from};
  PointwiseParams params = pointwise_params(to, in, 1, to.dtype);
  params.functor = fn::number_of<fn::Copy>;
  run_kernel(ctx, params);
}

}  // namespace

void run_copy(Ctx& ctx, const TensorImpl& to, const TensorImpl& from) {
  copy_elements(ctx, to, from);
}
void run_copy(Ctx& ctx, const View& to, const View& from) { copy_elements(ctx, to, from); }

void warn_of_lost_imaginary_part(ScalarType from, ScalarType to) {
  if (!is_complex(from) || is_complex(to) || to == kBool) [[likely]]
    return;
  static std::atomic<bool> warned = false;
  if (!warned.exchange(true) || globalContext().warnAlways())
    warn("Casting complex values to real discards the imaginary part");
}

void copy_self_to_out(LaunchContext& context) {
  if (context.out_impl().data() != context.in_impl(0).data())
    run_copy(context.ctx, context.out_impl(), context.in_impl(0));
}

void run_add(Ctx& ctx, const View& to, const View& from) {
  if (to.numel == 0) return;
  const View* const in[] = {&to, &from};
  PointwiseParams params = pointwise_params(to, in, 2, to.dtype);
  const fn::Add add{};
  params.functor = fn::number_of<fn::Add>;
  std::memcpy(params.parameters, &add, sizeof add);
  run_kernel(ctx, params);
}

/// Elements of `to` that share memory are written once.
void run_fill(Ctx& ctx, View to, const TensorImpl& number) {
  if (to.numel == 0) return;
  to.numel = 1;
  for (int d = 0; d < to.dim; ++d) {
    if (to.strides[d] == 0) to.sizes[d] = 1;
    to.numel *= to.sizes[d];
  }
  copy_elements(ctx, to, number);
}

void run_fill(Ctx& ctx, const View& to, double value) {
  run_fill(ctx, to, impl_of(wrapped_number(value)));
}

View dense(LaunchContext& context, const View& view) {
  if (!view.defined() || view.contiguous() || view.numel == 0) return view;
  View copy = view;
  copy.make_contiguous();
  copy.data = context.ctx.scratch(size_t(view.numel) * element_size(view.dtype));
  run_copy(context.ctx, copy, view);
  return copy;
}

void set_in_format(InferContext& context, int i, IntArrayRef sizes, ScalarType dtype,
                   bool channels_last) {
  context.set(i, sizes, dtype);
  if (!channels_last) return;
  context.out(i).strides = channels_last_strides(sizes);
  context.out(i).has_strides = true;
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
  const Dims strides(source.strides());
  return packed_strides(source.sizes(), &strides, 1);
}

void infer_copy(InferContext& context, ScalarType dtype, MemoryFormat format) {
  InferContext::Output& out = context.out();
  out.dtype = dtype;
  out.sizes = context.in(0).sizes();
  out.strides = strides_for(context.in(0), format);
  out.has_strides = true;
}

namespace {

/// A copy on the same device.
struct Clone {
  struct Args {
    MemoryFormat format;
    HEARTH_FIELDS(format)
  };
  static constexpr OpInfo info{
      .name = "clone", .accepts_stored = true, .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    infer_copy(context, context.in(0).dtype, args.format);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out_impl(), context.in_impl(0));
  }
  static void grad(const Args&, GradContext& context) { context.set(0, context.grad()); }
};

/// self = src, on one device, unless src is a number on the CPU. With kFill, src is one number, and
/// self may be expanded.
template <const OpInfo& op_info>
struct CopyInto {
  struct Args {};
  static constexpr OpInfo info = op_info;
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &self = context.in(0), &src = context.in(1);
    const bool is_number = src.dim == 0 && src.device.is_cpu();
    if (!is_number) check_same_device(op_info.name, "src", self.device, src.device);
    const Dims sizes = broadcast_sizes(self.sizes(), src.sizes());
    HEARTH_CHECK(sizes == Dims(self.sizes()), "output with shape ", self.sizes(),
                 " doesn't match the broadcast shape ", sizes);
    context.set(0, self.sizes(), self.dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    if (info.accepts_expanded)
      run_fill(context.ctx, context.out(), context.in_impl(1));
    else
      run_copy(context.ctx, context.out_impl(), context.in_impl(1));
  }
  static void grad(const Args&, GradContext& context) {
    if (context.needs(0)) context.set(0, zeros_like(context.grad()));
    if (context.needs(1)) context.set(1, context.grad().sum_to_size(context.in_sizes(1)));
  }
};
constexpr OpInfo kCopy{.name = "copy_",
                       .node = "torch::autograd::CopyBackwards",
                       .arguments = "self,src",
                       .accepts_stored = true,
                       .runs_inplace = true,
                       .mixes_devices = true,
                       .sharing = Sharing::kElementwise,
                       .complex_grad = ComplexGrad::kAnalytic};
constexpr OpInfo kFill{.name = "fill_",
                       .node = "FillBackward2",
                       .arguments = "self,value",
                       .accepts_stored = true,
                       .runs_inplace = true,
                       .mixes_devices = true,
                       .accepts_expanded = true,
                       .complex_grad = ComplexGrad::kAnalytic};

Tensor copy_in_format(const Tensor& self, std::optional<MemoryFormat> format) {
  return invoke<Clone>({format.value_or(MemoryFormat::Preserve)}, self).call();
}

Tensor& copy_from(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor& target = const_cast<Tensor&>(self);
  HEARTH_CHECK(self.defined() && src.defined(),
               "copy_: expected proper tensors, got an undefined one");
  if (self.is_same(src)) return target;
  const auto is_recorded = [&] {
    return autograd::wants_derivative(self) || autograd::wants_derivative(src);
  };
  if (is_same_view(impl_of(self), impl_of(src)) && !is_recorded()) return target;
  warn_of_lost_imaginary_part(src.scalar_type(), self.scalar_type());
  const bool is_number = src.dim() == 0 && src.is_cpu();
  if (is_number || self.device() == src.device())
    return invoke<CopyInto<kCopy>>({}, self, src).inplace(self);
  HEARTH_CHECK(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  if (self.is_meta()) {
    broadcast_sizes(self.sizes(), src.sizes());
    return target;
  }
  if (!is_recorded() && self.is_contiguous() && self.scalar_type() == src.scalar_type() &&
      self.sizes().equals(src.sizes())) {
    return transfer_into(target, src.contiguous(), non_blocking);
  }
  return invoke<CopyInto<kCopy>>({}, self, transfer(src, self.device(), non_blocking))
      .inplace(self);
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, clone, (std::optional<MemoryFormat> format),
                     copy_in_format(self, format))
// An undefined tensor is contiguous, as in PyTorch.
Tensor Tensor::contiguous(MemoryFormat format) const {
  return is_contiguous(format) ? *this : clone(format);
}

Tensor as_element_of(const Tensor& self, const Tensor& number) {
  const ScalarType type = self.scalar_type();
  if (number.is_cpu() && number.scalar_type() != type) (void)number.item().stored_as(type);
  return number.to(type, /*non_blocking=*/false, /*copy=*/number.is_alias_of(self));
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  return copy_from(self, src, non_blocking);
}
Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) const {
  return copy_from(*this, src, non_blocking);
}

namespace {

/// The number in self's dtype; throws if it does not fit, unless self is on meta.
Tensor fill_value(const Tensor& self, const Scalar& value) {
  // As in PyTorch, a single element of up to 16 bits becomes what the conversion makes of it.
  const ScalarType type = self.scalar_type();
  if (self.is_cpu() && self.numel() == 1 && is_rounded_float(type))
    return wrapped_number(value.toDouble());
  return wrapped_number(self.is_meta() ? value : value.stored_as(type));
}

/// The value of a 0-d tensor, from any device. As with copy_, it need not fit self's dtype, but
/// self may not be expanded.
Tensor fill_value(const Tensor& self, const Tensor& value) {
  HEARTH_CHECK(value.dim() == 0,
               "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
               " dimensions.");
  check_no_internal_overlap(impl_of(self));
  return value.is_cpu() ? value : value.to(self.device(), value.scalar_type());
}

}  // namespace

HEARTH_DEFINE_INPLACE(fill_, (const Scalar& value),
                      invoke<CopyInto<kFill>>({}, self, fill_value(self, value)))
HEARTH_DEFINE_INPLACE(fill_, (const Tensor& value),
                      invoke<CopyInto<kFill>>({}, self, fill_value(self, value)))
#define HEARTH_DEFINE_FILL(Value)                       \
  Tensor fill(const Tensor& self, const Value& value) { \
    check_defined("fill", 0, "self", self);             \
    return self.clone().fill_(value);                   \
  }                                                     \
  HEARTH_DEFINE_WRITE_OUT(fill, (const Tensor& self, const Value& value), fill(self, value))
HEARTH_DEFINE_FILL(Scalar)
HEARTH_DEFINE_FILL(Tensor)
#undef HEARTH_DEFINE_FILL
HEARTH_DEFINE_INPLACE(zero_, (), invoke<CopyInto<kFill>>({}, self, wrapped_number(0)))

}  // namespace hearth
