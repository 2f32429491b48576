// The Cholesky factorization.
#include "ops/linalg.h"
#include "seam/triangle.h"

namespace hearth {

namespace linalg {
namespace {

struct UpperArgs {
  bool upper;
  HEARTH_FIELDS(upper)
};

/// (factor, info): L with L L^T = A or, if upper, U with U^T U = A.
struct Cholesky {
  using Args = UpperArgs;
  static constexpr OpInfo info{.name = "_linalg_cholesky_ex",
                               .node = "LinalgCholeskyEx",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = out_slot(0),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& a = context.in(0);
    set_column_major(context, 0, a.sizes(), a.dtype);
    context.set(1, batch_of(a.sizes()), kInt);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View factor = context.out(0);
    run_copy(context.ctx, factor, context.in(0));
    run_kernel(context.ctx, CholeskyParams{factor, context.out(1), args.upper});
    if (factor.numel > 0) run_kernel(context.ctx, TriangleParams{factor, factor, 0, args.upper});
  }
  /// From L^-1 dA L^-T = X + X^T with the lower triangle X = L^-1 dL: X is the lower half of the
  /// left side. The gradient of the symmetric A is symmetric.
  static void grad(const Args& args, GradContext& context) {
    const Tensor factor = context.out(0), g = context.grad(0);
    const Tensor l = args.upper ? factor.mT() : factor;
    const Tensor inner = l.mT().matmul((args.upper ? g.mT() : g).tril()).tril();
    const Tensor half = inner.sub(diagonal_of(inner).mul(0.5).diag_embed());
    const auto over_l = [&](const Tensor& x) { return solve_triangle(l, x, false, true); };
    const Tensor whole = over_l(over_l(half.mT()).mT());
    context.set(0, whole.add(whole.mT()).mul(0.5));
  }
};

TensorPair cholesky_of(const UpperArgs& args, const Tensor& a) {
  check_square(a, "linalg.cholesky");
  check_floating(a, "linalg.cholesky");
  check_real(a, "cholesky_cpu");
  return invoke<Cholesky>(args, a).pair();
}
std::string text_of_indefinite(int code) {
  return detail::str(
      "The factorization could not be completed because the input is not positive-definite (the "
      "leading minor of order ",
      code, " is not positive-definite).");
}
Tensor cholesky_checked(const UpperArgs& args, const Tensor& a) {
  const auto [factor, info] = cholesky_of(args, a);
  check_info("linalg.cholesky", info, text_of_indefinite);
  return factor;
}
constexpr OpInfo kCholesky = float32_under_cpu_autocast("linalg_cholesky"),
                 kCholeskyEx = float32_under_cpu_autocast("linalg_cholesky_ex"),
                 kCholeskySolve = float32_under_cpu_autocast("cholesky_solve", "self,input2"),
                 kCholeskyInverse = float32_under_cpu_autocast("cholesky_inverse", "self");

/// A^-1 B, given the Cholesky factor of A; factor and b have the same batch.
Tensor solve_by_factor(bool upper, const Tensor& factor, const Tensor& b) {
  return solve_triangle(factor, solve_triangle(factor, b, upper, upper), upper, !upper);
}

Tensor cholesky_solve_of(const UpperArgs& args, const Tensor& b, const Tensor& factor) {
  HEARTH_CHECK(b.dim() >= 2, "b should have at least 2 dimensions, but has ", b.dim(),
               " dimensions instead");
  HEARTH_CHECK(factor.dim() >= 2, "u should have at least 2 dimensions, but has ", factor.dim(),
               " dimensions instead");
  check_square_plain(factor);
  const int64_t n = factor.size(-1);
  HEARTH_CHECK(n == b.size(-2), "Incompatible matrix sizes for cholesky_solve: each A matrix is ",
               n, " by ", n, " but each b matrix is ", b.size(-2), " by ", b.size(-1));
  HEARTH_CHECK(b.scalar_type() == factor.scalar_type(),
               "Expected b and A to have the same dtype, but found b of type ",
               name_of(b.scalar_type()), " and A of type ", name_of(factor.scalar_type()),
               " instead.");
  check_real(b, "cholesky_solve_cpu");
  const Dims batch = common_batch(factor, b);
  return solve_by_factor(args.upper, expand_batch(factor, batch), expand_batch(b, batch));
}

Tensor cholesky_inverse_of(const UpperArgs& args, const Tensor& factor) {
  check_square(factor, "cholesky_inverse");
  check_real(factor, "cholesky_inverse_out_cpu");
  const Tensor is_zero = diagonal_of(factor).eq(0);
  const Tensor countdown = arange(factor.size(-1), 0, -1, is_zero.options().dtype(kInt));
  if (factor.size(-1) > 0) {
    // countdown is n, n - 1 … 1, so its maximum over zeros of the diagonal is at the first zero.
    const Tensor largest = is_zero.to(kInt).mul(countdown).amax({-1});
    const Tensor info = where(largest.eq(0), 0, largest.neg().add(factor.size(-1) + 1));
    check_info("cholesky_inverse", info.to(kInt), text_of_singular);
  }
  return solve_by_factor(args.upper, factor, identity_like(factor, batch_of(factor.sizes())));
}

}  // namespace
}  // namespace linalg

using namespace linalg;

HEARTH_DEFINE_LINALG(linalg_cholesky, (const Tensor& self, bool upper),
                     compose<Composed<kCholesky, UpperArgs, cholesky_checked>>({upper}, self))
TensorPair linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  const TensorPair result = compose<Composed<kCholeskyEx, UpperArgs, cholesky_of>>({upper}, self);
  if (check_errors) check_info("linalg.cholesky_ex", std::get<1>(result), text_of_indefinite);
  return result;
}
HEARTH_DEFINE_TWO_OUT(linalg_cholesky_ex, L, info,
                      (const Tensor& self, bool upper, bool check_errors),
                      linalg_cholesky_ex(self, upper, check_errors))
HEARTH_DEFINE_COMPOSED_OUT(cholesky_solve, (const Tensor& input2, bool upper),
                           compose<Composed<kCholeskySolve, UpperArgs, cholesky_solve_of>>({upper},
                                                                                           self,
                                                                                           input2))
HEARTH_DEFINE_COMPOSED_OUT(
    cholesky_inverse, (bool upper),
    compose<Composed<kCholeskyInverse, UpperArgs, cholesky_inverse_of>>({upper}, self))

}  // namespace hearth
