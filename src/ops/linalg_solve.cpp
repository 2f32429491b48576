// Solutions of systems of linear equations, inverses and determinants.
#include <cmath>

#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

struct TriangleArgs {
  bool upper, transposed, unit;
  HEARTH_FIELDS(upper, transposed, unit)
};

/// T^-1 B or, if `transposed`, T^-T B, where T is a triangle of A.
struct SolveTriangular {
  using Args = TriangleArgs;
  static constexpr OpInfo info{.name = "linalg_solve_triangular",
                               .node = "LinalgSolveTriangular",
                               .arguments = "A,B",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args&, InferContext& context) {
    set_column_major(context, 0, context.in(1).sizes(), context.in(1).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_copy(context.ctx, context.out(), context.in(1));
    run_kernel(context.ctx, TriangularSolveParams{packed(context, context.in(0)), context.out(),
                                                  args.upper, args.transposed, args.unit});
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor a = context.in(0), x = context.out();
    const Tensor g = solve_triangle(a, context.grad(), args.upper, !args.transposed, args.unit);
    if (context.needs(1)) context.set(1, g);
    if (!context.needs(0)) return;
    const Tensor whole = (args.transposed ? x.matmul(g.mT()) : g.matmul(x.mT())).neg();
    const int64_t diagonal = args.unit ? 1 : 0;
    context.set(0, args.upper ? whole.triu(diagonal) : whole.tril(-diagonal));
  }
};

/// (A^-1 B, LU, pivots, info); A and B may have different batches.
struct SolveEx {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_linalg_solve_ex",
                               .node = "LinalgSolveEx",
                               .arguments = "A,B",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | out_slot(0) | out_slot(1) | out_slot(2),
                               .outputs = 4,
                               .non_differentiable = out_slot(1) | out_slot(2) | out_slot(3)};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &a = context.in(0), &b = context.in(1);
    const Dims a_batch = batch_of(a.sizes());
    const Dims batch = broadcast_sizes(a_batch, batch_of(b.sizes()));
    const int64_t n = a.sizes().back();
    set_column_major(context, 0, with_sizes(batch, {n, b.sizes().back()}), b.dtype);
    set_column_major(context, 1, a.sizes(), a.dtype);
    context.set(2, with_sizes(a_batch, {n}), kInt);
    context.set(3, a_batch, kInt);
  }
  static void launch(const Args&, LaunchContext& context) {
    const View x = context.out(0), lu = context.out(1), pivots = context.out(2);
    run_copy(context.ctx, lu, context.in(0));
    run_kernel(context.ctx, LuFactorParams{lu, pivots, context.out(3)});
    if (x.numel == 0) return;
    run_copy(context.ctx, x, expand_batch(context.in(1), {x.sizes, size_t(x.dim)}, 2));
    const Dims batch = batch_of({x.sizes, size_t(x.dim)});
    const int64_t n = lu.sizes[lu.dim - 1];
    const View factors = packed(context, expand_batch(lu, with_sizes(batch, {n, n}), 2));
    const View swaps = expand_batch(pivots, with_sizes(batch, {n}), 1);
    run_kernel(context.ctx, ApplyPivotsParams{x, dense(context, swaps)});
    run_kernel(context.ctx, TriangularSolveParams{factors, x, false, false, true});
    run_kernel(context.ctx, TriangularSolveParams{factors, x, true});
  }
  /// From A dX = dB - dA X. LU has no history, so under create_graph A is used instead.
  static void grad(const Args&, GradContext& context) {
    const Tensor a = context.in(0), x = context.out(0), g = context.grad(0);
    const Dims batch = batch_of(x.sizes());
    const auto by_factors = [&] {
      const Tensor pivots = context.out(2).expand(with_sizes(batch, {a.size(-1)}));
      return solve_by_lu(expand_batch(context.out(1), batch), pivots, g, true);
    };
    const Tensor g_b = modes.differentiates() ? std::get<0>(solve_ex(a.mT(), g)) : by_factors();
    if (context.needs(1)) context.set(1, g_b);
    if (context.needs(0)) context.set(0, g_b.matmul(x.mT()).neg());
  }
};

/// Adds the gradients to the sign of det A, whose gradient is 0, and to the logarithm of |det A|,
/// which were computed without history.
struct Slogdet {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_linalg_slogdet",
                               .node = "LinalgSlogdet",
                               .arguments = "A,LU,pivots,sign,log",
                               .saves = in_slot(0) | in_slot(1) | in_slot(2),
                               .outputs = 2};
  static void infer(const Args&, InferContext& context) {
    for (const int i : {0, 1}) context.set(i, context.in(3).sizes(), context.in(3).dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    for (const int i : {0, 1}) run_copy(context.ctx, context.out(i), context.in(3 + i));
  }
  static void grad(const Args&, GradContext& context) {
    if (!context.grad(1).defined()) return;
    const Tensor a = context.in(0);
    const Tensor g = as_factor(context.grad(1)).mul(identity_like(a, batch_of(a.sizes())));
    context.set(0, modes.differentiates() ? std::get<0>(solve_ex(a.mT(), g))
                                          : solve_by_lu(context.in(1), context.in(2), g, true));
  }
};

/// The sign of the permutation that the pivots describe.
Tensor permutation_sign(const Tensor& pivots, const Tensor& like) {
  const Tensor unmoved = arange(1, pivots.size(-1) + 1, pivots.options());
  const Tensor odd = pivots.ne(unmoved).sum(IntArrayRef(-1)).remainder(2);
  return odd.mul(-2).add(1).to(like.scalar_type());
}

/// Adds the gradient to the determinant `det`, which was computed without history.
struct Det {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_linalg_det",
                               .node = "LinalgDet",
                               .arguments = "A,LU,pivots,det",
                               .saves = in_slot(0) | in_slot(1) | in_slot(2)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(3).sizes(), context.in(3).dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out(), context.in(3));
  }
  /// A diagonal matrix that replaces zeros on U's diagonal by tiny numbers if added: cofactors are
  /// continuous in A, so that a singular matrix has almost the cofactors of the shifted one.
  static Tensor diagonal_shift(const Tensor& lu) {
    const double eps = lu.scalar_type() == kDouble ? 0x1p-52 : 0x1p-23f;
    const Tensor largest = lu.abs().amax({-2, -1});
    const Tensor tiny = where(largest.eq(0), 1, largest).mul(eps).unsqueeze(-1);
    return diagonal_of(lu).eq(0).to(lu.scalar_type()).mul(tiny).diag_embed();
  }
  static void grad(const Args&, GradContext& context) {
    const Tensor a = context.in(0), lu = context.in(1), pivots = context.in(2);
    const bool is_singular =
        a.numel() > 0 && !a.is_meta() && diagonal_of(lu).eq(0).any().item<bool>();
    const Tensor shift = is_singular ? diagonal_shift(lu) : Tensor();
    const Tensor identity = identity_like(a, batch_of(a.sizes()));
    if (!modes.differentiates()) {
      const Tensor factors = is_singular ? lu.add(shift) : lu;
      const Tensor det = diagonal_of(factors).prod(-1).mul(permutation_sign(pivots, lu));
      const Tensor g = as_factor(context.grad().mul(det)).mul(identity);
      return context.set(0, solve_by_lu(factors, pivots, g, true));
    }
    Tensor shifted = a;
    if (is_singular)
      shifted = a.add(apply_pivots(lu.tril(-1).add(identity).matmul(shift), pivots, true));
    const Tensor g = as_factor(context.grad().mul(linalg_det(shifted))).mul(identity);
    context.set(0, std::get<0>(solve_ex(shifted.mT(), g)));
  }
};

/// (LU, pivots, info) of A, without history.
TensorTriple detached_factors(const Tensor& a) {
  const NoGradGuard off;
  return factor_lu(a.detach());
}

Tensor det_of(const NoArgs&, const Tensor& a) {
  const auto [lu, pivots, info] = detached_factors(a);
  const Tensor value = diagonal_of(lu).prod(-1).mul(permutation_sign(pivots, lu));
  return invoke<Det>({}, a, lu, pivots, value).call();
}

TensorPair slogdet_of(const NoArgs&, const Tensor& a) {
  const auto [lu, pivots, info] = detached_factors(a);
  const Tensor diagonal = diagonal_of(lu);
  const Tensor sign = diagonal.sign().prod(-1).mul(permutation_sign(pivots, lu));
  const Tensor log = diagonal.abs().log().sum(IntArrayRef(-1));
  return invoke<Slogdet>({}, a, lu, pivots, sign, log).pair();
}

constexpr OpInfo kDet{.name = "linalg_det", .arguments = "A"};
constexpr OpInfo kSlogdet{.name = "linalg_slogdet", .arguments = "A"};

Tensor checked_det(const Tensor& a) {
  check_square(a, "linalg.det");
  check_floating(a, "linalg.det");
  check_real(a, "lu_cpu");
  return compose<Composed<kDet, NoArgs, det_of>>({}, a);
}
TensorPair checked_slogdet(const Tensor& a, const char* op) {
  check_square(a, op);
  check_floating(a, op, false);
  check_real(a, "lu_cpu");
  return compose<Composed<kSlogdet, NoArgs, slogdet_of>>({}, a);
}

/// B as matrices, and whether it is a batch of vectors.
std::pair<Tensor, bool> as_matrices(const Tensor& a, const Tensor& b) {
  const bool is_vector =
      b.dim() == 1 || (a.dim() - 1 == b.dim() && Dims(b.sizes()) == batch_of(a.sizes(), 1));
  return {is_vector ? b.unsqueeze(-1) : b, is_vector};
}

struct LeftArgs {
  bool left;
  HEARTH_FIELDS(left)
};

TensorPair solve_of(const LeftArgs& args, const Tensor& a, const Tensor& b) {
  constexpr const char* op = "linalg.solve";
  check_floating(a, op);
  check_matrix(a, op);
  check_same_type(op, "A", a, b);
  const auto [matrices, is_vector] = as_matrices(a, b);
  check_solvable(a, matrices, args.left, op);
  check_real(a, "linalg_solve_cpu");
  HEARTH_CHECK(args.left || !is_vector, op,
               ": Vector broadcasting of the left hand side is not supported for left=False. In "
               "this case linalg.solve is equivalent to B / A.squeeze(-1)");
  if (!args.left) {
    auto [x, info] = solve_ex(a.mT(), matrices.mT());
    return {x.mT(), info};
  }
  auto [x, info] = solve_ex(a, matrices);
  return {is_vector ? x.squeeze(-1) : x, info};
}
void check_solved(const Tensor& info, const char* op) {
  check_info(op, info,
             [](int) { return "The solver failed because the input matrix is singular."; });
}
Tensor solve_checked(const LeftArgs& args, const Tensor& a, const Tensor& b) {
  const auto [x, info] = solve_of(args, a, b);
  check_solved(info, "torch.linalg.solve");
  return x;
}
constexpr OpInfo kSolve = float32_under_cpu_autocast("linalg_solve", "A,B"),
                 kSolveEx{.name = "linalg_solve_ex", .arguments = "A,B"};

TensorPair inverse_of(const NoArgs&, const Tensor& a) {
  check_floating(a, "linalg.inv", false);
  check_square(a, "linalg.inv");
  check_real(a, "linalg_inv_cpu");
  return solve_ex(a, identity_like(a, batch_of(a.sizes())));
}
Tensor inverse_checked(const NoArgs&, const Tensor& a) {
  const auto [inverse, info] = inverse_of({}, a);
  check_info("linalg.inv", info, text_of_singular);
  return inverse;
}
constexpr OpInfo kLinalgInv = float32_under_cpu_autocast("linalg_inv"),
                 kInverse = float32_under_cpu_autocast("inverse", "self"),
                 kInvEx = float32_under_cpu_autocast("linalg_inv_ex");

}  // namespace

Tensor solve_triangle(const Tensor& a, const Tensor& b, bool upper, bool transposed, bool unit) {
  return invoke<SolveTriangular>({upper, transposed, unit}, a, b).call();
}
TensorPair solve_ex(const Tensor& a, const Tensor& b) {
  const std::vector<Tensor> results = invoke<SolveEx>({}, a, b).all();
  return {results[0], results[3]};
}

namespace {

/// Solves A X = B or, if not left, X A = B, with A^T instead of A if args.transposed.
Tensor solve_side(const TriangleArgs& args, bool left, const Tensor& a, const Tensor& b) {
  const Dims batch = common_batch(a, b);
  const Tensor expanded_a = expand_batch(a, batch), expanded_b = expand_batch(b, batch);
  if (left) return solve_triangle(expanded_a, expanded_b, args.upper, args.transposed, args.unit);
  return solve_triangle(expanded_a, expanded_b.mT(), args.upper, !args.transposed, args.unit).mT();
}

TensorPair triangular_solve_of(const TriangleArgs& args, const Tensor& b, const Tensor& a) {
  constexpr const char* op = "torch.triangular_solve: Expected ";
  HEARTH_CHECK(b.dim() >= 2, op, "b to have at least 2 dimensions, but it has ", b.dim(),
               " dimensions instead");
  HEARTH_CHECK(a.dim() >= 2, op, "A to have at least 2 dimensions, but it has ", a.dim(),
               " dimensions instead");
  check_square_plain(a);
  HEARTH_CHECK(a.size(-2) == b.size(-2),
               "Incompatible matrix sizes for triangular_solve: each A matrix is ", a.size(-1),
               " by ", a.size(-1), " but each b matrix is ", b.size(-2), " by ", b.size(-1));
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(),
               "Expected b and A to have the same dtype, but found b of type ",
               name_of(b.scalar_type()), " and A of type ", name_of(a.scalar_type()), " instead.");
  check_real(b, "triangular_solve_cpu");
  const Tensor copy = expand_batch(a, common_batch(a, b)).mT().contiguous().mT();
  return {solve_side(args, true, a, b), copy};
}
constexpr OpInfo kTriangularSolve = float32_under_cpu_autocast("triangular_solve", "self,A");

}  // namespace
}  // namespace linalg

using namespace linalg;

HEARTH_DEFINE_LINALG(linalg_inv, (const Tensor& A),
                     compose<Composed<kLinalgInv, NoArgs, inverse_checked>>({}, A))
HEARTH_DEFINE_COMPOSED_OUT(inverse, (),
                           compose<Composed<kInverse, NoArgs, inverse_checked>>({}, self))
TensorPair linalg_inv_ex(const Tensor& A, bool check_errors) {
  const TensorPair result = compose<Composed<kInvEx, NoArgs, inverse_of>>({}, A);
  if (check_errors) check_info("linalg.inv_ex", std::get<1>(result), text_of_singular);
  return result;
}
HEARTH_DEFINE_TWO_OUT(linalg_inv_ex, inverse, info, (const Tensor& A, bool check_errors),
                      linalg_inv_ex(A, check_errors))

HEARTH_DEFINE_LINALG(linalg_solve, (const Tensor& A, const Tensor& B, bool left),
                     compose<Composed<kSolve, LeftArgs, solve_checked>>({left}, A, B))
TensorPair linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  const TensorPair result = compose<Composed<kSolveEx, LeftArgs, solve_of>>({left}, A, B);
  if (check_errors) check_solved(std::get<1>(result), "torch.linalg.solve_ex");
  return result;
}
HEARTH_DEFINE_TWO_OUT(linalg_solve_ex, result, info,
                      (const Tensor& A, const Tensor& B, bool left, bool check_errors),
                      linalg_solve_ex(A, B, left, check_errors))

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left,
                               bool unitriangular) {
  check_defined("linalg_solve_triangular", 0, "self", self);
  check_defined("linalg_solve_triangular", 1, "B", B);
  check_solvable(self, B, left, "linalg.solve_triangular");
  check_real(self, "triangular_solve_cpu");
  // As in PyTorch, a complex B loses its imaginary part if A is real.
  return solve_side({upper, false, unitriangular}, left, self, B.to(self.scalar_type()));
}
HEARTH_DEFINE_WRITE_OUT(linalg_solve_triangular,
                        (const Tensor& self, const Tensor& B, bool upper, bool left,
                         bool unitriangular),
                        linalg_solve_triangular(self, B, upper, left, unitriangular))

HEARTH_DEFINE_METHOD(TensorPair, triangular_solve,
                     (const Tensor& A, bool upper, bool transpose, bool unitriangular),
                     compose<Composed<kTriangularSolve, TriangleArgs, triangular_solve_of>>(
                         {upper, transpose, unitriangular}, self, A))
HEARTH_DEFINE_TWO_OUT(triangular_solve, X, M,
                      (const Tensor& self, const Tensor& A, bool upper, bool transpose,
                       bool unitriangular),
                      triangular_solve(self, A, upper, transpose, unitriangular))

HEARTH_DEFINE_LINALG(linalg_det, (const Tensor& A), checked_det(A))
HEARTH_DEFINE_METHOD(Tensor, det, (), checked_det(self))
TensorPair linalg_slogdet(const Tensor& A) { return checked_slogdet(A, "linalg.slogdet"); }
HEARTH_DEFINE_TWO_OUT(linalg_slogdet, sign, logabsdet, (const Tensor& A), linalg_slogdet(A))
HEARTH_DEFINE_METHOD(TensorPair, slogdet, (), checked_slogdet(self, "linalg.slogdet"))
HEARTH_DEFINE_TWO_OUT(slogdet, sign, logabsdet, (const Tensor& self), slogdet(self))

namespace {
/// log(sign) is 0, or NaN for negative determinants, or -infinity for 0.
Tensor logdet_of(const Tensor& a) {
  const auto [sign, log] = checked_slogdet(a, "logdet");
  return log.add(sign.log());
}
}  // namespace
HEARTH_DEFINE_METHOD(Tensor, logdet, (), logdet_of(self))

}  // namespace hearth
