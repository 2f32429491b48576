// Complex numbers: made from their parts, their parts as views, abs, angle, conj and isreal.
#include <numbers>

#include "functors/arithmetic.h"
#include "functors/trig.h"
#include "ops/complex.h"
#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/pointwise.h"
#include "ops/promote.h"
#include "ops/view_shape.h"

namespace hearth {

View part_of(const View& complex, int which) {
  View part = complex;
  part.dtype = to_real(complex.dtype);
  part.data = complex.as<char>() + size_t(which) * element_size(part.dtype);
  for (int d = 0; d < part.dim; ++d) part.strides[d] *= 2;
  return part;
}

namespace {

struct Complex {
  using Args = NoArgs;
  static constexpr OpInfo info{
      .name = "complex", .arguments = "real,imag", .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &real = context.in(0), &imag = context.in(1);
    context.set(0, broadcast_sizes(real.sizes(), imag.sizes()), to_complex(real.dtype));
  }
  static void launch(const Args&, LaunchContext& context) {
    for (int i = 0; i < 2; ++i) {
      const View in = context.in(i), part = part_of(context.out(), i);
      run_copy(context.ctx, part, broadcast_view(in, part));
    }
  }
  static void grad(const Args&, GradContext& context) {
    if (context.needs(0)) context.set(0, real(context.grad()));
    if (context.needs(1)) context.set(1, imag(context.grad()));
  }
};

/// The parts of complex numbers as a last dimension of size 2.
struct ViewAsReal {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "view_as_real",
                               .node = "ViewAsReal",
                               .effect = Effect::kView,
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& in = context.in(0);
    Dims sizes(in.sizes()), strides(in.strides());
    for (int64_t& stride : strides) stride *= 2;
    sizes.push_back(2);
    strides.push_back(1);
    set_view(context, sizes, strides, 0);
    context.out().dtype = to_real(in.dtype);
  }
  static void grad(const Args&, GradContext& context) {
    const Tensor parts = context.grad().contiguous();
    const bool is_aligned = parts.storage_offset() % 2 == 0;
    context.set(0, view_as_complex(is_aligned ? parts : parts.clone()));
  }
};

struct ViewAsComplex {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "view_as_complex",
                               .node = "ViewAsComplex",
                               .amp_cpu = Amp::kFloat32,
                               .effect = Effect::kView,
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& in = context.in(0);
    Dims sizes, strides;
    for (size_t d = 0; d + 1 < size_t(in.dim); ++d) {
      sizes.push_back(in.sizes()[d]);
      strides.push_back(in.strides()[d] / 2);
    }
    set_view(context, sizes, strides, 0);
    context.out().dtype = to_complex(in.dtype);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, view_as_real(context.grad()));
  }
};

/// Applies a pointwise functor, given by its number, to the two parts of complex numbers. `first`
/// is the part that is the functor's first argument, as in part_of().
void run_on_parts(int functor, int first, LaunchContext& context) {
  const View in = context.in(0), a = part_of(in, first), b = part_of(in, 1 - first);
  const View* const parts[] = {&a, &b};
  const View out = context.out();
  PointwiseParams params = pointwise_params(out, parts, 2, a.dtype);
  params.functor = int16_t(functor);
  run_kernel(context.ctx, params);
}

/// One real output with the sizes and the memory order of input 0, which is complex.
void infer_real(InferContext& context) {
  infer_copy(context, to_real(context.in(0).dtype), MemoryFormat::Preserve);
}

/// The angle of z; its gradient at 0 is 0.
struct AngleComplex {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "angle",
                               .overload = "complex",
                               .saves = in_slot(0),
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args&, InferContext& context) { infer_real(context); }
  static void launch(const Args&, LaunchContext& context) {
    run_on_parts(fn::number_of<fn::Atan2>, 1, context);
  }
  static void grad(const Args&, GradContext& context) {
    const Tensor z = context.in(0), turned = z.mul(complex<double>(0, 1));
    // At 0, the divisor must not be 0, or the derivatives of this formula are NaN.
    const Tensor is_zero = z.eq(0), square = z.abs().square().masked_fill(is_zero, 1);
    context.set(0, context.grad().mul(turned).div(square).masked_fill(is_zero, 0));
  }
};

Tensor angle_of(const Tensor& self) {
  if (self.is_complex()) return invoke<AngleComplex>({}, self).call();
  const Tensor x = is_integral(self.scalar_type(), true) ? self.to(get_default_dtype()) : self;
  const Tensor angle = hearth::where(x.lt(0), full_like(x, std::numbers::pi), zeros_like(x));
  return detail::with_zero_derivative(hearth::where(x.isnan(), x.detach(), angle), x);
}

/// Checks the two real arguments of complex() or polar(), named `first` and `second`.
void check_parts(const char* op, const char* first, const Tensor& a, const char* second,
                 const Tensor& b) {
  check_defined(op, 0, first, a);
  check_defined(op, 1, second, b);
  const auto is_accepted = [](const Tensor& t) {
    const ScalarType type = t.scalar_type();
    return type == kFloat || type == kDouble || type == kHalf;
  };
  HEARTH_CHECK_AS(NotImplementedError, is_accepted(a) && is_accepted(b),
                  "Expected both inputs to be Half, Float or Double tensors but got ",
                  name_of(a.scalar_type()), " and ", name_of(b.scalar_type()));
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(), "Expected object of scalar type ",
               name_of(a.scalar_type()), " but got scalar type ", name_of(b.scalar_type()),
               " for second argument");
  HEARTH_CHECK_AS(NotImplementedError, a.scalar_type() != kHalf, op,
                  ": there is no complex dtype with parts of dtype Half");
}

Tensor& check_complex_out(const char* op, Tensor& out, const Tensor& part) {
  check_defined(op, 2, "out", out);
  HEARTH_CHECK(out.scalar_type() == to_complex(part.scalar_type()),
               "Expected object of scalar type ", name_of(to_complex(part.scalar_type())),
               " but got scalar type ", name_of(out.scalar_type()), " for argument 'out'");
  return out;
}

Tensor isreal_of(const Tensor& self) {
  return self.is_complex() ? imag(self).eq(0) : ones_like(self, kBool);
}

Tensor conj_of(const Tensor& self) {
  return self.is_complex() ? pointwise(fn::Conj{}, self).call() : self;
}

void check_viewable(const Tensor& self) {
  const ScalarType type = self.scalar_type();
  HEARTH_CHECK_AS(TypeError, !self.is_complex(),
                  "view_as_complex is not supported for complex tensors");
  HEARTH_CHECK(type == kFloat || type == kDouble || type == kHalf,
               "view_as_complex is only supported for half, float and double tensors, but got a "
               "tensor of scalar type: ",
               name_of(type));
  HEARTH_CHECK_AS(NotImplementedError, type != kHalf,
                  "view_as_complex: there is no complex dtype with parts of dtype Half");
  HEARTH_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  HEARTH_CHECK(self.size(-1) == 2, "Tensor must have a last dimension of size 2");
  HEARTH_CHECK(self.stride(-1) == 1, "Tensor must have a last dimension with stride 1");
  for (int64_t d = 0; d + 1 < self.dim(); ++d)
    HEARTH_CHECK(self.stride(d) % 2 == 0,
                 "Tensor must have a stride divisible by 2 for all but last dimension");
  HEARTH_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");
}

}  // namespace

void AbsComplex::infer(const Args&, InferContext& context) { infer_real(context); }
void AbsComplex::launch(const Args&, LaunchContext& context) {
  run_on_parts(fn::number_of<fn::Hypot>, 0, context);
}
void AbsComplex::grad(const Args&, GradContext& context) {
  const Tensor length = context.out(), is_zero = length.eq(0);
  const Tensor sign = context.in(0).div(where(is_zero, 1, length));
  context.set(0, context.grad().mul(where(is_zero, 0, sign)));
}

Tensor make_complex(const Tensor& real, const Tensor& imag) {
  check_parts("complex", "real", real, "imag", imag);
  return invoke<Complex>({}, real, imag).call();
}
Tensor& make_complex_out(Tensor& out, const Tensor& real, const Tensor& imag) {
  check_parts("complex", "real", real, "imag", imag);
  return invoke<Complex>({}, real, imag).out(check_complex_out("complex", out, real));
}
Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", "abs", abs, "angle", angle);
  return make_complex(abs.mul(angle.cos()), abs.mul(angle.sin()));
}
Tensor& polar_out(Tensor& out, const Tensor& abs, const Tensor& angle) {
  check_parts("polar", "abs", abs, "angle", angle);
  check_complex_out("polar", out, abs);
  return write_out("polar", out, [&] { return polar(abs, angle); });
}

Tensor view_as_real(const Tensor& self) {
  check_defined("view_as_real", 0, "self", self);
  HEARTH_CHECK_AS(TypeError, self.is_complex(),
                  "view_as_real is only supported for complex tensors");
  return invoke<ViewAsReal>({}, self).call();
}
Tensor view_as_complex(const Tensor& self) {
  check_defined("view_as_complex", 0, "self", self);
  check_viewable(self);
  return invoke<ViewAsComplex>({}, self).call();
}
Tensor real(const Tensor& self) {
  check_defined("real", 0, "self", self);
  return self.is_complex() ? view_as_real(self).select(-1, 0) : self;
}
Tensor imag(const Tensor& self) {
  check_defined("imag", 0, "self", self);
  HEARTH_CHECK_AS(TypeError, self.is_complex(),
                  "imag is not implemented for tensors with non-complex dtypes.");
  return view_as_real(self).select(-1, 1);
}

HEARTH_DEFINE_COMPOSED_OUT(angle, (), angle_of(self))
HEARTH_DEFINE_METHOD(Tensor, conj, (), conj_of(self))
HEARTH_DEFINE_COMPOSED_OUT(conj_physical, (), conj_of(self))
HEARTH_DEFINE_INPLACE_AS(conj_physical_, (),
                         self.is_complex() ? pointwise(fn::Conj{}, self).inplace(self) : self)
HEARTH_DEFINE_METHOD(Tensor, resolve_conj, (), self)
HEARTH_DEFINE_METHOD(Tensor, resolve_neg, (), self)
HEARTH_DEFINE_METHOD(Tensor, isreal, (), isreal_of(self))

}  // namespace hearth
