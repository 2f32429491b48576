#include "seam/range.h"

#include <cmath>

#include "ops/composed_out.h"
#include "ops/create.h"

namespace hearth {

namespace {

constexpr OpInfo kArange{.name = "arange", .dtypes = dtypes::kReal, .runs_inplace = true},
    kLinspace{.name = "linspace", .dtypes = dtypes::kReal, .runs_inplace = true};

/// Fills self with the numbers of a range.
template <const OpInfo& op_info>
struct FillRange {
  struct Args {
    RangeParams params;  // without the view
    HEARTH_FIELDS(params.kind, params.start, params.step, params.end)
  };
  static constexpr const OpInfo& info = op_info;
  static void launch(const Args& args, LaunchContext& context) {
    RangeParams params = args.params;
    params.out = context.out();
    run_kernel(context.ctx, params);
  }
};

void fill_arange(const Tensor& self, const Scalar& start, const Scalar& step) {
  RangeParams params;
  params.start = start.toDouble();
  params.step = step.toDouble();
  if (is_integral(self.scalar_type(), false)) {
    params.istart = start.toLong();
    params.istep = step.toLong();
  }
  invoke<FillRange<kArange>>({params}, self).inplace(self);
}

void fill_linspace(const Tensor& self, const Scalar& start, const Scalar& end) {
  if (self.is_complex()) {
    const complex<double> a = start.stored_as(self.scalar_type()).toComplexDouble(),
                          b = end.stored_as(self.scalar_type()).toComplexDouble();
    const auto part = [&](double from, double to) {
      const Tensor numbers = empty(self.sizes(), self.options().dtype(to_real(self.scalar_type())));
      fill_linspace(numbers, from, to);
      return numbers;
    };
    self.copy_(make_complex(part(a.real(), b.real()), part(a.imag(), b.imag())));
    return;
  }
  RangeParams params;
  params.kind = RangeParams::Kind::kLinspace;
  params.start = start.stored_as(self.scalar_type()).toDouble();
  params.end = end.stored_as(self.scalar_type()).toDouble();
  params.step = self.numel() > 1 ? (params.end - params.start) / double(self.numel() - 1) : 0;
  invoke<FillRange<kLinspace>>({params}, self).inplace(self);
}

/// A bound of linspace or logspace.
const Scalar& bound(const Scalar& number, const char*) { return number; }
Scalar bound(const Tensor& tensor, const char* op) {
  HEARTH_CHECK(tensor.dim() == 0, op,
               " only supports 0-dimensional start and end tensors, but got ", tensor.dim(),
               "D tensor.");
  return tensor.item();
}

void check_bounds(double low, double high, double step) {
  HEARTH_CHECK(step != 0, "step must be nonzero");
  HEARTH_CHECK(std::isfinite(low) && std::isfinite(high), "unsupported range: ", low, " -> ", high);
  HEARTH_CHECK((step > 0) == (high >= low) || high == low,
               "upper bound and lower bound inconsistent with step sign");
}

}  // namespace

namespace by_name {

Tensor arange(const Scalar& end, const TensorOptions& options) {
  return arange(0, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const bool all_integers = start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
  const ScalarType dtype = options.has_dtype() ? resolve_dtype(options.dtype_or_default())
                           : all_integers      ? kLong
                                               : get_default_dtype_as_scalartype();
  const double low = start.toDouble(), high = end.toDouble(), increment = step.toDouble();
  HEARTH_CHECK(std::isfinite(increment), "step must be finite but got ", increment);
  check_bounds(low, high, increment);
  int64_t num_elements = 0;
  if (all_integers) {
    const int64_t integer_step = step.toLong();
    int64_t span;
    HEARTH_CHECK(!__builtin_sub_overflow(end.toLong(), start.toLong(), &span) &&
                     !(integer_step == -1 && span == INT64_MIN),
                 "invalid size, possible overflow?");
    num_elements = span / integer_step + (span % integer_step != 0);
  } else {
    const double exact = std::ceil((high - low) / increment);
    HEARTH_CHECK(exact >= 0 && exact < 0x1p62, "invalid size, possible overflow?");
    num_elements = static_cast<int64_t>(exact);
  }
  return filled({num_elements}, options.dtype(dtype),
                [&](const Tensor& t) { fill_arange(t, start, step); });
}

Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return range(start, end, 1, options);
}
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step,
             const TensorOptions& options) {
  const ScalarType dtype = resolve_dtype(options.dtype_or_default());
  HEARTH_CHECK_AS(NotImplementedError, has_kernels(dtype) && dtypes::kReal >> unsigned(dtype) & 1u,
                  "\"range_cpu\" not implemented for '", name_of(dtype), "'");
  // With an integer dtype, the bounds and the step are integers too.
  const auto number = [&](const Scalar& x) {
    return is_integral(dtype, false) ? double(x.toLong()) : x.toDouble();
  };
  const double low = number(start), high = number(end), increment = number(step);
  check_bounds(low, high, increment);
  const double count = std::floor((high - low) / increment) + 1;
  HEARTH_CHECK(count < 0x1p62, "invalid size, possible overflow?");
  return filled({static_cast<int64_t>(count)}, options.dtype(dtype),
                [&](const Tensor& t) { fill_arange(t, start, step); });
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  HEARTH_CHECK(steps >= 0, "number of steps must be non-negative");
  const bool has_complex_bound = !options.has_dtype() && (start.isComplex() || end.isComplex());
  return filled({steps},
                has_complex_bound ? options.dtype(to_complex(get_default_dtype())) : options,
                [&](const Tensor& t) { fill_linspace(t, start, end); });
}
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                const TensorOptions& options) {
  HEARTH_CHECK(steps >= 0, "number of steps must be non-negative");
  const ScalarType type = options.dtype_or_default();
  HEARTH_CHECK_AS(NotImplementedError, type != kBool, "\"logspace\" not implemented for 'Bool'");
  // With an integer dtype the bounds of the exponents are integers too.
  const bool has_integer_dtype = is_integral(type, false);
  const TensorOptions wide = options.dtype(kDouble).requires_grad(false);
  const Tensor exponents = linspace(has_integer_dtype ? Scalar(start.toLong()) : start,
                                    has_integer_dtype ? Scalar(end.toLong()) : end, steps, wide);
  const Tensor values = full({steps}, base, wide).pow(exponents);
  return finish_new(values.to(type), options);
}

#define HEARTH_DEFINE_TENSOR_BOUNDS(Start, End)                                              \
  Tensor linspace(const Start& start, const End& end, int64_t steps,                         \
                  const TensorOptions& options) {                                            \
    return linspace(bound(start, "linspace"), bound(end, "linspace"), steps, options);       \
  }                                                                                          \
  Tensor logspace(const Start& start, const End& end, int64_t steps, double base,            \
                  const TensorOptions& options) {                                            \
    return logspace(bound(start, "logspace"), bound(end, "logspace"), steps, base, options); \
  }
HEARTH_DEFINE_TENSOR_BOUNDS(Tensor, Tensor)
HEARTH_DEFINE_TENSOR_BOUNDS(Tensor, Scalar)
HEARTH_DEFINE_TENSOR_BOUNDS(Scalar, Tensor)
#undef HEARTH_DEFINE_TENSOR_BOUNDS

}  // namespace by_name

Tensor& arange_out(Tensor& out, const Scalar& end) { return arange_out(out, 0, end); }
HEARTH_DEFINE_WRITE_OUT(arange, (const Scalar& start, const Scalar& end, const Scalar& step),
                        arange(start, end, step, options_of(out)))
Tensor& range_out(Tensor& out, const Scalar& start, const Scalar& end) {
  return range_out(out, start, end, 1);
}
HEARTH_DEFINE_WRITE_OUT(range, (const Scalar& start, const Scalar& end, const Scalar& step),
                        range(start, end, step, options_of(out)))
HEARTH_DEFINE_WRITE_OUT(linspace, (const Scalar& start, const Scalar& end, int64_t steps),
                        linspace(start, end, steps, options_of(out)))
HEARTH_DEFINE_WRITE_OUT(linspace, (const Tensor& start, const Tensor& end, int64_t steps),
                        linspace(start, end, steps, options_of(out)))
HEARTH_DEFINE_WRITE_OUT(linspace, (const Tensor& start, const Scalar& end, int64_t steps),
                        linspace(start, end, steps, options_of(out)))
HEARTH_DEFINE_WRITE_OUT(linspace, (const Scalar& start, const Tensor& end, int64_t steps),
                        linspace(start, end, steps, options_of(out)))
HEARTH_DEFINE_WRITE_OUT(logspace,
                        (const Scalar& start, const Scalar& end, int64_t steps, double base),
                        logspace(start, end, steps, base, options_of(out)))

}  // namespace hearth
