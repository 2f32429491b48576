// LU factorization, and solving equations with its factors.
#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

constexpr SlotSet kLu = out_slot(0), kPivots = out_slot(1);

struct PivotArgs {
  bool reversed;  // applies the last pivot first, which undoes the swaps
  HEARTH_FIELDS(reversed)
};

/// Swaps the rows of matrices by pivots.
struct ApplyPivots {
  using Args = PivotArgs;
  static constexpr OpInfo info{
      .name = "_linalg_apply_pivots", .arguments = "self,pivots", .saves = in_slot(1)};
  static void infer(const Args&, InferContext& context) {
    set_column_major(context, 0, context.in(0).sizes(), context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_copy(context.ctx, context.out(), context.in(0));
    run_kernel(context.ctx,
               ApplyPivotsParams{context.out(), dense(context, context.in(1)), args.reversed});
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, apply_pivots(context.grad(), context.in(1), !args.reversed));
  }
};

/// (LU, pivots, info).
struct LuFactor {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "linalg_lu_factor_ex",
                               .node = "LinalgLuFactorEx",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = kLu | kPivots,
                               .outputs = 3,
                               .non_differentiable = out_slot(1) | out_slot(2)};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& a = context.in(0);
    const Dims batch = batch_of(a.sizes());
    const int64_t rows = a.sizes()[size_t(a.dim) - 2], columns = a.sizes().back();
    set_column_major(context, 0, a.sizes(), a.dtype);
    context.set(1, with_sizes(batch, {std::min(rows, columns)}), kInt);
    context.set(2, batch, kInt);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out(0), context.in(0));
    run_kernel(context.ctx, LuFactorParams{context.out(0), context.out(1), context.out(2)});
  }
  /// From P^T A = L U: L^-1 P^T dA U^-1 = L^-1 dL + dU U^-1, a strictly lower and an upper
  /// triangle. If A is not square, U's columns beyond the square part are L^-1 times those of P^T
  /// A, and L's rows beyond it are those of P^T A times U^-1.
  static void grad(const Args&, GradContext& context) {
    const Tensor lu = context.out(0), g = context.grad(0);
    const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
    const Tensor square = lu.narrow(-2, 0, k).narrow(-1, 0, k);
    const Tensor g_square = g.narrow(-2, 0, k).narrow(-1, 0, k);
    const Tensor l = square.tril(-1).add(identity_like(square, batch_of(lu.sizes())));
    Tensor lower = l.mT().matmul(g_square.tril(-1));
    Tensor upper = g_square.triu().matmul(square.triu().mT());
    if (n > k) lower = lower.sub(g.narrow(-1, k, n - k).matmul(lu.narrow(-1, k, n - k).mT()));
    if (m > k) upper = upper.sub(lu.narrow(-2, k, m - k).mT().matmul(g.narrow(-2, k, m - k)));
    const Tensor inner = lower.tril(-1).add(upper.triu());
    // x U^-T, as the transpose of U^-1 x^T.
    const auto over_u = [&](const Tensor& x) {
      return solve_triangle(square, x.mT(), true, false).mT();
    };
    Tensor grad_permuted = solve_triangle(square, over_u(inner), false, true, true);
    if (n > k)
      grad_permuted = cat(
          {grad_permuted, solve_triangle(square, g.narrow(-1, k, n - k), false, true, true)}, -1);
    if (m > k) grad_permuted = cat({grad_permuted, over_u(g.narrow(-2, k, m - k))}, -2);
    context.set(0, apply_pivots(grad_permuted, context.out(1), true));
  }
};

void check_pivots(const Tensor& pivots, int64_t rows, const char* too_small,
                  const char* too_large) {
  if (pivots.is_meta() || pivots.numel() == 0) return;
  HEARTH_CHECK(pivots.min().item<int>() >= 1, too_small);
  HEARTH_CHECK(pivots.max().item<int>() <= rows, too_large);
}

constexpr const char* kLuFactorName = "linalg.lu_factor";

/// Checks and factorizes the input; does not throw for singular matrices.
TensorTriple checked_factors(const Tensor& a, bool pivot, const char* op) {
  check_defined("linalg_lu_factor", 0, "A", a);
  HEARTH_CHECK(a.dim() >= 2, op,
               ": Expected tensor with 2 or more dimensions. Got size: ", a.sizes(), " instead");
  check_real(a, "lu_cpu");
  HEARTH_CHECK(pivot, kLuFactorName, ": LU without pivoting is not implemented on ",
               a.is_cuda() ? "CUDA" : "the CPU");
  return factor_lu(a);
}

void check_singular(const Tensor& info, const char* op) {
  check_info<Error>(op, info, [](int code) {
    return detail::str("U[", code, ",", code,
                       "] is zero and using it on lu_solve would result in a division by zero. If "
                       "you still want to perform the factorization, consider calling "
                       "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  });
}

/// The permutation matrices P.
Tensor permutation(const Tensor& lu, const Tensor& pivots) {
  const Dims batch = batch_of(lu.sizes());
  const Tensor rows = by_name::eye(lu.size(-2), lu.options().requires_grad(false));
  return apply_pivots(expand_batch(rows, batch), pivots, true).contiguous();
}

/// (P, L, U); P is empty without `with_pivots`, L and U without `with_data`.
TensorTriple unpack(const Tensor& lu, const Tensor& pivots, bool with_data, bool with_pivots) {
  const Tensor none = empty({0}, lu.options().requires_grad(false));
  TensorTriple result{none, none, none};
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  if (with_pivots) std::get<0>(result) = permutation(lu, pivots);
  if (!with_data) return result;
  const Tensor left = lu.narrow(-1, 0, k), identity = by_name::eye(m, k, none.options());
  std::get<1>(result) = left.tril(-1).add(identity).contiguous();
  std::get<2>(result) = lu.narrow(-2, 0, k).triu().contiguous();
  return result;
}

void check_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left) {
  constexpr const char* op = "linalg.lu_solve";
  check_defined("linalg_lu_solve", 0, "LU", lu);
  check_defined("linalg_lu_solve", 1, "pivots", pivots);
  check_defined("linalg_lu_solve", 2, "B", b);
  check_floating(lu, op);
  check_same_type(op, "LU", lu, b);
  HEARTH_CHECK(pivots.scalar_type() == kInt, op,
               ": pivots should be a Tensor of scalar type torch.int32");
  check_solvable(lu, b, left, op);
  HEARTH_CHECK(pivots.dim() > 0 && lu.size(-1) == pivots.size(-1), op,
               ": Number of pivots per batch should be same as the dimension of the matrix");
  HEARTH_CHECK(
      Dims(lu.sizes().slice(0, size_t(lu.dim()) - 1)) == Dims(pivots.sizes()), op,
      ": Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
      pivots.sizes(), " instead");
  check_real(lu, "lu_solve_cpu");
  check_pivots(pivots, lu.size(-2),
               "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass "
               "the result of lu_factor?",
               "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you "
               "properly pass the result of lu_factor?");
}

struct SideArgs {
  bool left, adjoint;
  HEARTH_FIELDS(left, adjoint)
};
Tensor solve_by_factors(const SideArgs& args, const Tensor& lu, const Tensor& pivots,
                        const Tensor& b) {
  check_lu_solve(lu, pivots, b, args.left);
  const Dims batch = common_batch(lu, b);
  const Tensor factors = expand_batch(lu, batch);
  const Tensor swaps = pivots.expand(with_sizes(batch, {pivots.size(-1)}));
  if (args.left) return solve_by_lu(factors, swaps, expand_batch(b, batch), args.adjoint);
  return solve_by_lu(factors, swaps, expand_batch(b, batch).mT(), !args.adjoint).mT();
}
constexpr OpInfo kLinalgLuSolve{.name = "linalg_lu_solve", .arguments = "LU,pivots,B"};
constexpr OpInfo kLuSolve = float32_under_cpu_autocast("lu_solve", "LU_data,LU_pivots,self");

}  // namespace

TensorTriple factor_lu(const Tensor& a) { return invoke<LuFactor>({}, a).triple(); }
Tensor apply_pivots(const Tensor& self, const Tensor& pivots, bool reversed) {
  return invoke<ApplyPivots>({reversed}, self, pivots).call();
}
Tensor solve_by_lu(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint) {
  if (!adjoint) {
    const Tensor x = apply_pivots(b, pivots, false);
    return solve_triangle(lu, solve_triangle(lu, x, false, false, true), true, false);
  }
  const Tensor y = solve_triangle(lu, b, true, true);
  return apply_pivots(solve_triangle(lu, y, false, true, true), pivots, true);
}

}  // namespace linalg

using namespace linalg;

TensorTriple linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  const TensorTriple result = checked_factors(A, pivot, "torch.lu_factor");
  if (check_errors) check_singular(std::get<2>(result), "torch.linalg.lu_factor_ex");
  return result;
}
TensorPair linalg_lu_factor(const Tensor& A, bool pivot) {
  const TensorTriple result = checked_factors(A, pivot, "torch.lu_factor");
  check_singular(std::get<2>(result), "torch.linalg.lu_factor");
  return {std::get<0>(result), std::get<1>(result)};
}
TensorTriple linalg_lu(const Tensor& A, bool pivot) {
  const TensorTriple factors = checked_factors(A, pivot, "linalg.lu");
  return unpack(std::get<0>(factors), std::get<1>(factors), true, true);
}
HEARTH_DEFINE_TWO_OUT(linalg_lu_factor, LU, pivots, (const Tensor& A, bool pivot),
                      linalg_lu_factor(A, pivot))
HEARTH_DEFINE_THREE_OUT(linalg_lu_factor_ex, LU, pivots, info,
                        (const Tensor& A, bool pivot, bool check_errors),
                        linalg_lu_factor_ex(A, pivot, check_errors))
HEARTH_DEFINE_THREE_OUT(linalg_lu, P, L, U, (const Tensor& A, bool pivot), linalg_lu(A, pivot))

TensorTriple lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                       bool unpack_pivots) {
  check_matrix(LU_data, "torch.lu_unpack", "LU_data");
  check_defined("lu_unpack", 1, "LU_pivots", LU_pivots);
  check_real(LU_data, "lu_unpack");
  if (unpack_pivots) {
    HEARTH_CHECK(LU_pivots.scalar_type() == kInt,
                 "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
                 "dtype.");
    const int64_t k = std::min(LU_data.size(-2), LU_data.size(-1));
    const Dims wanted = with_sizes(batch_of(LU_data.sizes()), {k});
    HEARTH_CHECK_AS(ValueError, wanted == Dims(LU_pivots.sizes()),
                    "Expected LU_pivots to have shape ", IntArrayRef(wanted), " but got ",
                    LU_pivots.sizes(), " instead.");
    constexpr const char* kOutOfRange =
        "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
        "Did you properly pass the result of lu_factor?";
    check_pivots(LU_pivots, LU_data.size(-2), kOutOfRange, kOutOfRange);
  }
  return unpack(LU_data, LU_pivots, unpack_data, unpack_pivots);
}
HEARTH_DEFINE_THREE_OUT(lu_unpack, P, L, U,
                        (const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                         bool unpack_pivots),
                        lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots))

HEARTH_DEFINE_LINALG(linalg_lu_solve,
                     (const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                      bool adjoint),
                     compose<Composed<kLinalgLuSolve, SideArgs, solve_by_factors>>({left, adjoint},
                                                                                   LU, pivots, B))
HEARTH_DEFINE_COMPOSED_OUT(lu_solve, (const Tensor& LU_data, const Tensor& LU_pivots),
                           compose<Composed<kLuSolve, SideArgs, solve_by_factors>>({true, false},
                                                                                   LU_data,
                                                                                   LU_pivots, self))

}  // namespace hearth
