#include "seam/scan.h"

#include <cmath>

#include "ops/define.h"
#include "ops/reduce.h"
#include "ops/scan.h"

namespace hearth {

namespace {

struct ScanArgs {
  int64_t dim;
  bool reverse = false;
  HEARTH_FIELDS(dim, reverse)
};

ScanParams scan_params(ScanKind kind, const ScanArgs& args, LaunchContext& context) {
  ScanParams params;
  params.in = context.in(0);
  params.factor = context.in(1);
  params.out = context.out();
  if (context.outputs() > 1) params.indices = context.out(1);
  params.dim = int(args.dim);
  params.kind = kind;
  params.reverse = args.reverse;
  return params;
}

/// x shifted along dim by one element: forwards if `offset` is 1, backwards if it is -1. The first
/// or last element becomes `fill`.
Tensor shifted(const Tensor& x, int64_t dim, int64_t offset, double fill) {
  if (x.dim() == 0) return full({}, fill, x.options());
  const int64_t n = x.size(dim);
  if (n == 0) return x;
  Dims sizes(x.sizes());
  sizes[size_t(dim)] = 1;
  const Tensor filler = full(sizes, fill, x.options());
  return offset > 0 ? cat({filler, x.narrow(dim, 0, n - 1)}, dim)
                    : cat({x.narrow(dim, 1, n - 1), filler}, dim);
}

struct CumSum {
  using Args = ScanArgs;
  static constexpr OpInfo info{.name = "cumsum",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .runs_inplace = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, scan_params(ScanKind::kSum, args, context));
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<CumSum>({args.dim, !args.reverse}, context.grad()).call());
  }
};

/// out[i] = b[i] + a[i] * out[i - 1]; its derivative is a scan in the other direction.
struct LinearScan {
  using Args = ScanArgs;
  static constexpr OpInfo info{.name = "linear_scan",
                               .arguments = "b,a",
                               .dtypes = dtypes::kNumbers,
                               .saves = in_slot(1) | out_slot(0),
                               .complex_grad = ComplexGrad::kAnalytic};
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, scan_params(ScanKind::kLinear, args, context));
  }
  static void grad(const Args& args, GradContext& context) {
    const int64_t ahead = args.reverse ? 1 : -1;
    const Tensor factors = shifted(context.in(1), args.dim, ahead, 0);
    const Tensor sums =
        invoke<LinearScan>({args.dim, !args.reverse}, context.grad(), factors).call();
    if (context.needs(0)) context.set(0, sums);
    if (context.needs(1)) context.set(1, sums.mul(shifted(context.out(), args.dim, -ahead, 0)));
  }
};

/// The gradient of x[k] is the product of the elements before k, times the sum over i >= k of
/// grad[i] * x[k + 1] * … * x[i], a linear scan from the other end. It divides by no element, so
/// zeros are allowed.
struct CumProd {
  using Args = ScanArgs;
  static constexpr OpInfo info{.name = "cumprod",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .saves = in_slot(0),
                               .runs_inplace = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, scan_params(ScanKind::kProd, args, context));
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor in = context.in(0), factors = shifted(in, args.dim, args.reverse ? 1 : -1, 0);
    const Tensor sums =
        invoke<LinearScan>({args.dim, !args.reverse}, context.grad(), factors).call();
    context.set(0, exclusive_cumprod(in, args.dim, args.reverse).mul(sums));
  }
};

/// exp(a - b); 1 where a equals b, also if both are infinite.
Tensor ratio(const Tensor& a, const Tensor& b) { return where(a.eq(b), 0, a.sub(b)).exp(); }

struct LogCumSumExp {
  using Args = ScanArgs;
  static constexpr OpInfo info{.name = "logcumsumexp",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(0) | out_slot(0),
                               .runs_inplace = true};
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, scan_params(ScanKind::kLogSumExp, args, context));
  }
  /// d out[i] / d x[k] = exp(x[k] - out[k]) * exp(out[k] - out[i]), summed from the end.
  static void grad(const Args& args, GradContext& context) {
    const Tensor in = context.in(0), out = context.out();
    const Tensor shrink = ratio(out, shifted(out, args.dim, -1, INFINITY));
    const Tensor sums = invoke<LinearScan>({args.dim, true}, context.grad(), shrink).call();
    context.set(0, in.sub(out).exp().mul(sums));
  }
};

template <bool largest>
struct CumExtreme {
  using Args = ScanArgs;
  static constexpr OpInfo info{.name = largest ? "cummax" : "cummin",
                               .dtypes = dtypes::kRealAndBool,
                               .saves = out_slot(1),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
    context.set(1, context.in(0).sizes(), kLong);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, scan_params(largest ? ScanKind::kMax : ScanKind::kMin, args, context));
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, picked_grad(context.grad(), context.out(1), context.in_sizes(0), args.dim));
  }
};

ScanArgs scan_args(const Tensor& self, int64_t dim) { return {wrap_dim(dim, self.dim())}; }

/// The input of the in-place forms: integers keep their dtype, while the other forms return int64.
const Tensor& inplace_input(const Tensor& self, std::optional<ScalarType> dtype) {
  HEARTH_CHECK(!dtype || *dtype == self.scalar_type(), "Bad in-place call: input tensor dtype ",
               TypeMeta(self.scalar_type()).name(), " and output tensor dtype ",
               TypeMeta(dtype.value_or(kFloat)).name(), " should match");
  return self;
}

}  // namespace

Tensor exclusive_cumprod(const Tensor& x, int64_t dim, bool reverse) {
  const Tensor before = shifted(x, dim, reverse ? -1 : 1, 1);
  return invoke<CumProd>({dim, reverse}, before).call();
}

// Without a dtype, the out= form computes in out's, as in PyTorch.
#define HEARTH_DEFINE_SCAN(name, Op)                                                          \
  HEARTH_DEFINE_METHOD(                                                                       \
      Tensor, name, (int64_t dim, std::optional<ScalarType> dtype),                           \
      invoke<Op>(scan_args(self, dim), in_dtype(self, sum_dtype(self, dtype))).call())        \
  Tensor& name##_out(Tensor& out, const Tensor& self, int64_t dim,                            \
                     std::optional<ScalarType> dtype) {                                       \
    check_defined(#name, 0, "self", self);                                                    \
    if (!dtype && out.defined() && !self.is_complex()) dtype = out.scalar_type();             \
    return invoke<Op>(scan_args(self, dim), in_dtype(self, sum_dtype(self, dtype))).out(out); \
  }                                                                                           \
  HEARTH_DEFINE_INPLACE(name##_, (int64_t dim, std::optional<ScalarType> dtype),              \
                        invoke<Op>(scan_args(self, dim), inplace_input(self, dtype)))
HEARTH_DEFINE_SCAN(cumsum, CumSum)
HEARTH_DEFINE_SCAN(cumprod, CumProd)
#undef HEARTH_DEFINE_SCAN
HEARTH_DEFINE_OUT(logcumsumexp, (int64_t dim), invoke<LogCumSumExp>(scan_args(self, dim), self))
HEARTH_DEFINE_PAIR(cummax, (int64_t dim), invoke<CumExtreme<true>>(scan_args(self, dim), self))
HEARTH_DEFINE_PAIR(cummin, (int64_t dim), invoke<CumExtreme<false>>(scan_args(self, dim), self))

}  // namespace hearth
