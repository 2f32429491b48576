// Fourier transforms: the ops that run the kernel.
#include "ops/fft.h"

#include <cmath>

#include "hearth/autograd.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// Transforms the last of several dimensions and then, in place, the others.
void run_all(Ctx& ctx, FftParams params, const Dims& dims) {
  run_kernel(ctx, params);
  params.in = params.out;
  params.kind = FftKind::kComplex;
  params.scale = params.weight = 1;
  for (size_t i = dims.size() - 1; i-- > 0;) {
    params.dim = int(dims[i]);
    run_kernel(ctx, params);
  }
}

FftParams params_for(FftKind kind, const Dims& dims, double scale, bool forward) {
  FftParams params;
  params.kind = kind;
  params.dim = int(dims.data()[dims.size() - 1]);
  params.scale = scale;
  params.forward = forward;
  return params;
}

/// Complex to complex. The derivative is the transform in the other direction.
struct FftC2C {
  struct Args {
    Dims dims;
    double scale;
    bool forward;
    HEARTH_FIELDS(dims, scale, forward)
  };
  static constexpr OpInfo info{.name = "_fft_c2c",
                               .node = "FftC2C",
                               .dtypes = dtypes::kComplex,
                               .complex_grad = ComplexGrad::kOwn};
  static void launch(const Args& args, LaunchContext& context) {
    FftParams params = params_for(FftKind::kComplex, args.dims, args.scale, args.forward);
    params.in = context.in(0);
    params.out = context.out();
    run_all(context.ctx, params, args.dims);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<FftC2C>({args.dims, args.scale, !args.forward}, context.grad()).call());
  }
};

/// The arguments of transforms between real and complex tensors, in either direction. `weight`
/// multiplies the complex numbers whose mirror image is left out.
struct RealArgs {
  Dims dims;
  int64_t last;  // the real tensor's size along the last dimension
  double scale, weight;
  bool forward, onesided;
  HEARTH_FIELDS(dims, last, scale, weight, forward, onesided)

  FftParams params(FftKind kind) const {
    FftParams params = params_for(kind, dims, scale, forward);
    params.weight = weight;
    params.full = !onesided;
    return params;
  }
  /// The arguments of the derivative. Complex-to-real transforms count each weighted number twice,
  /// real-to-complex transforms once; `factor` compensates for this.
  RealArgs adjoint(double factor) const {
    return {dims, last, scale, weight * factor, !forward, onesided};
  }
};

Tensor to_real(const RealArgs& args, const Tensor& self);

/// Real to complex.
struct FftR2C {
  using Args = RealArgs;
  static constexpr OpInfo info{.name = "_fft_r2c",
                               .node = "FftR2C",
                               .dtypes = dtypes::kFloatAndDouble,
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args& args, InferContext& context) {
    Dims sizes(context.in(0).sizes());
    if (args.onesided) sizes[size_t(args.dims[args.dims.size() - 1])] = args.last / 2 + 1;
    context.set(0, sizes, to_complex(context.in(0).dtype));
  }
  static void launch(const Args& args, LaunchContext& context) {
    FftParams params = args.params(FftKind::kRealToComplex);
    params.in = context.in(0);
    params.out = context.out();
    run_all(context.ctx, params, args.dims);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, to_real(args.adjoint(0.5), context.grad()));
  }
};

/// Complex to real.
struct FftC2R {
  using Args = RealArgs;
  static constexpr OpInfo info{.name = "_fft_c2r",
                               .node = "FftC2R",
                               .dtypes = dtypes::kComplex,
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args& args, InferContext& context) {
    Dims sizes(context.in(0).sizes());
    sizes[size_t(args.dims[args.dims.size() - 1])] = args.last;
    context.set(0, sizes, by_name::to_real(context.in(0).dtype));
  }
  static void launch(const Args& args, LaunchContext& context) {
    FftParams params = args.params(FftKind::kComplexToReal);
    params.in = context.in(0);
    params.out = context.out();
    if (args.dims.size() > 1) {
      Dims others(IntArrayRef(args.dims).slice(0, args.dims.size() - 1));
      FftParams first = params_for(FftKind::kComplex, others, 1, args.forward);
      first.in = params.in;
      first.out = params.in;
      first.out.make_contiguous();
      first.out.data =
          context.ctx.scratch(size_t(first.out.numel) * size_t(element_size(first.out.dtype)));
      run_all(context.ctx, first, others);
      params.in = first.out;
    }
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<FftR2C>(args.adjoint(2), context.grad()).call());
  }
};

Tensor to_real(const RealArgs& args, const Tensor& self) {
  return invoke<FftC2R>(args, self).call();
}

}  // namespace

double fft_scale(FftNorm norm, double numbers) {
  switch (norm) {
    case FftNorm::kNone: return 1;
    case FftNorm::kByRootN: return 1 / std::sqrt(numbers);
    default: return 1 / numbers;
  }
}

Tensor fft_complex(const Tensor& self, const Dims& dims, double scale, bool forward) {
  return invoke<FftC2C>({dims, scale, forward}, self).call();
}
Tensor fft_of_real(const Tensor& self, const Dims& dims, double scale, bool forward,
                   bool onesided) {
  return invoke<FftR2C>({dims, self.size(dims[dims.size() - 1]), scale, 1, forward, onesided}, self)
      .call();
}
Tensor fft_to_real(const Tensor& self, const Dims& dims, int64_t last, double scale, bool forward) {
  return to_real({dims, last, scale, 1, forward, true}, self);
}

}  // namespace hearth
