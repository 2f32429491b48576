// Least squares and the pseudoinverse.
#include <limits>

#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

struct LstsqArgs {
  double rcond;
  int64_t driver;
  LeastSquaresDriver driver_kind() const { return LeastSquaresDriver(driver); }
  bool has_rank() const { return driver_kind() != LeastSquaresDriver::kQr; }
  bool has_values() const { return has_rank() && driver_kind() != LeastSquaresDriver::kPivotedQr; }
  HEARTH_FIELDS(rcond, driver)
};

/// (X in the first rows, rank, singular values, info) for A X = B; A and B have the same batch.
struct Lstsq {
  using Args = LstsqArgs;
  static constexpr OpInfo info{.name = "_linalg_lstsq",
                               .node = "LinalgLstsq",
                               .arguments = "A,B",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1),
                               .outputs = 4,
                               .non_differentiable = out_slot(1) | out_slot(2) | out_slot(3)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &a = context.in(0), &b = context.in(1);
    const Dims batch = batch_of(a.sizes());
    const int64_t m = a.sizes()[size_t(a.dim) - 2], n = a.sizes().back();
    set_column_major(context, 0, with_sizes(batch, {std::max(m, n), b.sizes().back()}), b.dtype);
    context.set(1, batch, kLong);
    context.set(2, with_sizes(batch, {std::min(m, n)}), a.dtype);
    context.set(3, batch, kInt);
    context.out(1).defined = args.has_rank();
    context.out(2).defined = args.has_values();
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View a = context.in(0), b = context.in(1), x = context.out(0);
    const int rows = a.dim - 2;
    const View copy = scratch_matrices(context.ctx, IntArrayRef(a.sizes, size_t(a.dim)), a.dtype);
    run_copy(context.ctx, copy, a);
    if (x.sizes[rows] > b.sizes[rows]) run_fill(context.ctx, x, 0);
    if (b.numel > 0) run_copy(context.ctx, narrowed(x, rows, b.sizes[rows]), b);
    run_kernel(context.ctx, LeastSquaresParams{copy, x, context.out(1), context.out(2),
                                               context.out(3), args.rcond, args.driver_kind()});
  }
  /// X = pinv(A) B.
  static void grad(const Args&, GradContext& context) {
    const Tensor a = context.in(0), b = context.in(1);
    const Tensor pinv = linalg_pinv(a), g = context.grad(0).narrow(-2, 0, a.size(-1));
    if (context.needs(1)) context.set(1, pinv.mT().matmul(g));
    if (context.needs(0)) context.set(0, pinv_gradient(g.matmul(b.mT()), a, pinv));
  }
};

LstsqArgs lstsq_args(const Tensor& a, std::optional<double> rcond,
                     const std::optional<std::string_view>& driver) {
  constexpr std::string_view kNames[] = {"gels", "gelsy", "gelsd", "gelss"};
  const auto* found =
      std::find(kNames, kNames + 4, driver.value_or(a.is_cuda() ? "gels" : "gelsy"));
  HEARTH_CHECK(found != kNames + 4,
               "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, "
               "gelss)");
  const double eps = a.scalar_type() == kDouble ? std::numeric_limits<double>::epsilon()
                                                : std::numeric_limits<float>::epsilon();
  return {rcond.value_or(eps * double(std::max(a.size(-2), a.size(-1)))), found - kNames};
}

void check_lstsq(const Tensor& a, const Tensor& b) {
  constexpr const char* op = "torch.linalg.lstsq: ";
  HEARTH_CHECK(b.dim() >= 1, op, "other must have at least 1 dimension.");
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(), op,
               "Expected input and other to have the same dtype, but got input's dtype ",
               name_of(a.scalar_type()), " and other's dtype ", name_of(b.scalar_type()));
  HEARTH_CHECK(a.scalar_type() == kFloat || a.scalar_type() == kDouble,
               "This function doesn't handle types other than float and double");
  HEARTH_CHECK(a.dim() - b.dim() <= 1 && a.dim() >= b.dim(), op,
               "input.dim() must be greater or equal to other.dim() and (input.dim() - "
               "other.dim()) <= 1");
}

TensorQuad lstsq_of(const LstsqArgs& args, const Tensor& self, const Tensor& other) {
  check_lstsq(self, other);
  const bool is_vector = self.dim() - 1 == other.dim();
  Tensor a = self, b = is_vector ? other.unsqueeze(-1) : other;
  HEARTH_CHECK(a.size(-2) == b.size(-2), "torch.linalg.lstsq: input.size(-2) should match ",
               is_vector ? "other.size(-1)" : "other.size(-2)");
  const Dims batch = common_batch(a, b);
  a = expand_batch(a, batch);
  b = expand_batch(b, batch);
  const TensorOptions options = a.options().requires_grad(false);
  const int64_t m = a.size(-2), n = a.size(-1);
  Tensor x, rank = args.has_rank() ? zeros(batch, options.dtype(kLong)) : Tensor();
  Tensor values = args.has_values() ? empty(with_sizes(batch, {0}), options) : Tensor();
  if (a.numel() == 0 || b.numel() == 0) {
    x = a.mT().matmul(b);  // empty or zero, with zeros as gradients
  } else {
    const std::vector<Tensor> results = invoke<Lstsq>(args, a, b).all();
    check_info("torch.linalg.lstsq", results[3], [](int code) {
      return detail::str(
          "The least squares solution could not be computed because the input matrix does not have "
          "full rank (error code: ",
          code, ").");
    });
    x = results[0].narrow(-2, 0, n);
    rank = results[1];
    values = results[2];
  }
  Tensor residuals = empty({0}, options);
  // As in PyTorch, gelsy (kPivotedQr) returns no residuals.
  const bool has_residuals =
      args.driver_kind() == LeastSquaresDriver::kQr ||
      (args.has_values() && (rank.is_meta() || rank.eq(n).all().item<bool>()));
  if (m > n && has_residuals) residuals = a.matmul(x).sub(b).pow(2).sum(IntArrayRef(-2));
  return {is_vector ? x.squeeze(-1) : x, residuals,
          rank.defined() ? rank : empty({0}, options.dtype(kLong)),
          values.defined() ? values : empty({0}, options)};
}
constexpr OpInfo kLstsq = float32_under_cpu_autocast("linalg_lstsq", "self,b");

/// Adds the gradient to a pseudoinverse that was computed without history. Inputs: A, its
/// pseudoinverse.
struct Pinv {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_linalg_pinv",
                               .node = "LinalgPinv",
                               .arguments = "A,pinv",
                               .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(1).sizes(), context.in(1).dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out(), context.in(1));
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, pinv_gradient(context.grad(), context.in(0), context.out()));
  }
};

/// The absolute and relative tolerance of singular values. By default, atol is 0, and rtol is eps *
/// max(rows, columns), or 0 if atol is positive.
struct Tolerances {
  Tensor atol, rtol;

  Tolerances(const Tensor& a, const Tensor& absolute, const Tensor& relative) {
    const double eps = a.scalar_type() == kDouble ? std::numeric_limits<double>::epsilon()
                                                  : std::numeric_limits<float>::epsilon();
    const TensorOptions options = a.options().requires_grad(false);
    const Tensor default_rtol = full({}, eps * double(std::max(a.size(-2), a.size(-1))), options);
    atol = absolute.defined() ? absolute : zeros({}, options);
    if (relative.defined())
      rtol = relative;
    else
      rtol =
          absolute.defined() ? where(atol.gt(0), zeros({}, options), default_rtol) : default_rtol;
  }
  /// Whether each of the magnitudes counts as nonzero.
  Tensor significant(const Tensor& magnitudes) const {
    const Tensor largest = magnitudes.amax({-1});
    const Tensor bound =
        maximum(atol.to(magnitudes.dtype()), rtol.to(magnitudes.dtype()).mul(largest));
    return magnitudes.gt(bound.unsqueeze(-1));
  }
};

/// A tolerance as a 0-d float64 tensor; undefined if it is not given.
Tensor number_like(const Tensor& like, std::optional<double> value) {
  return value ? full({}, *value, like.options().requires_grad(false).dtype(kDouble)) : Tensor();
}

void check_tolerance(const Tensor& t, const char* op, const char* name) {
  HEARTH_CHECK(!t.defined() || !t.is_complex(), op, ": ", name,
               " tensor of complex type is not supported. Got ", name_of(t.scalar_type()));
}

/// The pseudoinverse, without history.
Tensor pinv_value(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  if (a.numel() == 0)
    return empty(with_sizes(batch_of(a.sizes()), {a.size(-1), a.size(-2)}), a.options());
  const Tolerances tolerances(a, atol, rtol);
  const auto inverted = [&](const Tensor& values) {
    const Tensor is_significant = tolerances.significant(values.abs());
    return where(is_significant, values.reciprocal(), zeros({}, values.options())).unsqueeze(-2);
  };
  if (hermitian) {
    const auto [w, v] = eigh_of(a, false, true);
    return v.mul(inverted(w)).matmul(v.mT());
  }
  const std::vector<Tensor> usv = svd_of(a, false, true);
  return usv[2].mT().mul(inverted(usv[1])).matmul(usv[0].mT());
}

struct HermitianArgs {
  bool hermitian;
  HEARTH_FIELDS(hermitian)
};

Tensor pinv_of_args(const HermitianArgs& args, const Tensor& a, const Tensor& atol,
                    const Tensor& rtol) {
  constexpr const char* op = "torch.linalg.pinv";
  const ScalarType type = a.scalar_type();
  HEARTH_CHECK(
      a.dim() >= 2 && is_differentiable(type) && !is_reduced_float(type), "linalg.pinv(",
      name_of(type), "{", a.sizes(),
      "}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble "
      "types");
  check_tolerance(atol, op, "atol");
  check_tolerance(rtol, op, "rtol");
  if (args.hermitian) check_square(a, "linalg.eigh");
  check_real(a, "linalg_svd_cpu");
  const Tensor value = [&] {
    const NoGradGuard off;
    return pinv_value(a.detach(), atol, rtol, args.hermitian).contiguous();
  }();
  // The batches of a and the tolerances broadcast.
  const Dims batch = batch_of(value.sizes());
  return invoke<Pinv>({}, expand_batch(a, batch), value).call();
}

constexpr OpInfo kPinv{
    .name = "linalg_pinv", .arguments = "self,atol,rtol", .optional = in_slot(1) | in_slot(2)};
Tensor pinv_of(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_defined("linalg_pinv", 0, "self", a);
  return compose<Composed<kPinv, HermitianArgs, pinv_of_args>>({hermitian}, a, atol, rtol);
}

struct PinverseArgs {
  double rcond;
  HEARTH_FIELDS(rcond)
};
Tensor pinverse_of(const PinverseArgs& args, const Tensor& a) {
  return linalg_pinv(a, std::optional<double>(0), args.rcond, false);
}
constexpr OpInfo kPinverse = float32_under_cpu_autocast("pinverse", "self"),
                 kMatrixRank{.name = "linalg_matrix_rank",
                             .arguments = "input,atol,rtol",
                             .amp_cpu = Amp::kFloat32,
                             .optional = in_slot(1) | in_slot(2)};

Tensor rank_of(const HermitianArgs& args, const Tensor& a, const Tensor& atol, const Tensor& rtol) {
  constexpr const char* op = "torch.linalg.matrix_rank";
  check_matrix(a, op, "input");
  check_tolerance(atol, op, "atol");
  check_tolerance(rtol, op, "rtol");
  if (args.hermitian) check_square(a, op, "input");
  HEARTH_CHECK(is_differentiable(a.scalar_type()) && !is_reduced_float(a.scalar_type()),
               "This function doesn't handle types other than float and double");
  check_real(a, "linalg_svd_cpu");
  const NoGradGuard off;
  if (a.numel() == 0)
    return zeros(batch_of(a.sizes()), a.options().requires_grad(false).dtype(kLong));
  const Tensor values =
      args.hermitian ? std::get<0>(eigh_of(a, false, false)).abs() : singular_values(a);
  return Tolerances(a, atol, rtol).significant(values).sum(IntArrayRef(-1));
}
Tensor composed_rank(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_defined("linalg_matrix_rank", 0, "input", a);
  return compose<Composed<kMatrixRank, HermitianArgs, rank_of>>({hermitian}, a, atol, rtol);
}

}  // namespace

/// From dP = -P dA P + P P^T dA^T (1 - A P) + (1 - P A) dA^T P^T P.
Tensor pinv_gradient(const Tensor& grad, const Tensor& a, const Tensor& pinv) {
  const Tensor g = grad.mT(), p = pinv.mT();
  const Tensor first = p.matmul(grad).matmul(p).neg();
  const Tensor right = g.matmul(pinv).matmul(p), left = p.matmul(pinv).matmul(g);
  const Tensor second = right.sub(a.matmul(pinv.matmul(right)));
  const Tensor third = left.sub(left.matmul(pinv).matmul(a));
  return first.add(second).add(third);
}

}  // namespace linalg

using namespace linalg;

TensorQuad linalg_lstsq(const Tensor& self, const Tensor& b, std::optional<double> rcond,
                        std::optional<std::string_view> driver) {
  check_defined("linalg_lstsq", 0, "self", self);
  check_defined("linalg_lstsq", 1, "b", b);
  HEARTH_CHECK(self.dim() >= 2, "torch.linalg.lstsq: input must have at least 2 dimensions.");
  return compose<Composed<kLstsq, LstsqArgs, lstsq_of>>(lstsq_args(self, rcond, driver), self, b);
}
TensorRefQuad linalg_lstsq_out(Tensor& solution, Tensor& residuals, Tensor& rank,
                               Tensor& singular_values, const Tensor& self, const Tensor& b,
                               std::optional<double> rcond,
                               std::optional<std::string_view> driver) {
  write_results("linalg_lstsq", {&solution, &residuals, &rank, &singular_values}, [&] {
    auto [x, r, k, s] = linalg_lstsq(self, b, rcond, driver);
    return std::vector<Tensor>{x, r, k, s};
  });
  return {solution, residuals, rank, singular_values};
}

HEARTH_DEFINE_LINALG(linalg_pinv,
                     (const Tensor& self, const std::optional<Tensor>& atol,
                      const std::optional<Tensor>& rtol, bool hermitian),
                     pinv_of(self, or_undefined(atol), or_undefined(rtol), hermitian))
Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  check_defined("linalg_pinv", 0, "self", self);
  return pinv_of(self, number_like(self, atol), number_like(self, rtol), hermitian);
}
HEARTH_DEFINE_WRITE_OUT(linalg_pinv,
                        (const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                         bool hermitian),
                        linalg_pinv(self, atol, rtol, hermitian))
Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) {
  return linalg_pinv(self, std::optional<double>(0), rcond, hermitian);
}
HEARTH_DEFINE_WRITE_OUT(linalg_pinv, (const Tensor& self, double rcond, bool hermitian),
                        linalg_pinv(self, rcond, hermitian))
Tensor linalg_pinv(const Tensor& self, const Tensor& rcond, bool hermitian) {
  check_defined("linalg_pinv", 0, "self", self);
  check_defined("linalg_pinv", 1, "rcond", rcond);
  return pinv_of(self, number_like(self, 0), rcond, hermitian);
}
HEARTH_DEFINE_WRITE_OUT(linalg_pinv, (const Tensor& self, const Tensor& rcond, bool hermitian),
                        linalg_pinv(self, rcond, hermitian))
HEARTH_DEFINE_METHOD(Tensor, pinverse, (double rcond),
                     compose<Composed<kPinverse, PinverseArgs, pinverse_of>>({rcond}, self))

HEARTH_DEFINE_LINALG(linalg_matrix_rank,
                     (const Tensor& input, const std::optional<Tensor>& atol,
                      const std::optional<Tensor>& rtol, bool hermitian),
                     composed_rank(input, or_undefined(atol), or_undefined(rtol), hermitian))
Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  check_defined("linalg_matrix_rank", 0, "self", self);
  return composed_rank(self, number_like(self, atol), number_like(self, rtol), hermitian);
}
HEARTH_DEFINE_WRITE_OUT(linalg_matrix_rank,
                        (const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                         bool hermitian),
                        linalg_matrix_rank(self, atol, rtol, hermitian))
Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return linalg_matrix_rank(self, std::optional<double>(tol), std::optional<double>(0), hermitian);
}
HEARTH_DEFINE_WRITE_OUT(linalg_matrix_rank, (const Tensor& self, double tol, bool hermitian),
                        linalg_matrix_rank(self, tol, hermitian))
Tensor linalg_matrix_rank(const Tensor& input, const Tensor& tol, bool hermitian) {
  check_defined("linalg_matrix_rank", 0, "input", input);
  check_defined("linalg_matrix_rank", 1, "tol", tol);
  return composed_rank(input, tol, number_like(input, 0), hermitian);
}
HEARTH_DEFINE_WRITE_OUT(linalg_matrix_rank,
                        (const Tensor& input, const Tensor& tol, bool hermitian),
                        linalg_matrix_rank(input, tol, hermitian))

}  // namespace hearth
