// The LDL factorization, of symmetric matrices that need not be positive definite.
#include <cstdlib>

#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

/// (LD, pivots, info).
struct LdlFactor {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_linalg_ldl_factor",
                               .node = "LinalgLdlFactorEx",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .outputs = 3,
                               .non_differentiable = out_slot(1) | out_slot(2)};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& a = context.in(0);
    set_column_major(context, 0, a.sizes(), a.dtype);
    context.set(1, batch_of(a.sizes(), 1), kInt);
    context.set(2, batch_of(a.sizes()), kInt);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out(0), context.in(0));
    run_fill(context.ctx, context.out(2), 0);
    run_kernel(context.ctx, LdlFactorParams{context.out(0), context.out(1), context.out(2)});
  }
};

/// X with A X = B, in B's sizes; LD and pivots have B's batch dimensions.
struct LdlSolve {
  using Args = NoArgs;
  static constexpr OpInfo info{
      .name = "_linalg_ldl_solve", .node = "LinalgLdlSolve", .arguments = "LD,pivots,B"};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& b = context.in(2);
    set_column_major(context, 0, b.sizes(), b.dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    const View ld = context.in(0);
    const View factors =
        scratch_matrices(context.ctx, IntArrayRef(ld.sizes, size_t(ld.dim)), ld.dtype);
    run_copy(context.ctx, factors, ld);
    run_copy(context.ctx, context.out(), context.in(2));
    run_kernel(context.ctx, LdlSolveParams{factors, dense(context, context.in(1)), context.out()});
  }
};

TensorTriple ldl_factors(const Tensor& a) {
  constexpr const char* op = "torch.linalg.ldl_factor_ex";
  check_square(a, op);
  check_floating(a, op);
  check_real(a, "ldl_factor_kernel_cpu");
  const auto [ld, pivots, info] = invoke<LdlFactor>({}, a).triple();
  return {ld.tril(), pivots, info};
}

void check_ldl(const char* op, const Tensor& info) {
  check_info<Error>(op, info, [](int code) {
    return detail::str("The diagonal element ", code, " of D is zero; A is singular.");
  });
}

/// Throws unless the pivots of one matrix are numbers from 1 to n, or pairs of equal numbers from
/// -n to -1.
void check_pivots_of_matrix(const int* pivots, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t row = std::abs(int64_t{pivots[k]});
    const bool is_pair = pivots[k] < 0;
    HEARTH_CHECK(row >= 1 && row <= n && (!is_pair || (k + 1 < n && pivots[k + 1] == pivots[k])),
                 "torch.linalg.ldl_solve: pivots must be those of torch.linalg.ldl_factor");
    k += is_pair;
  }
}

void check_ldl_pivots(const Tensor& pivots) {
  if (pivots.is_meta() || pivots.numel() == 0) return;
  const Tensor host = pivots.cpu().to(kInt).contiguous();
  const int64_t n = host.size(-1);
  for (int64_t first = 0; first < host.numel(); first += n)
    check_pivots_of_matrix(host.data_ptr<int>() + first, n);
}

void check_ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  constexpr const char* op = "torch.linalg.ldl_solve";
  check_defined(op, 1, "pivots", pivots);
  check_square(ld, op);
  check_matrix(b, op, "B");
  HEARTH_CHECK(batch_of(ld.sizes(), 1) == Dims(pivots.sizes()), op,
               ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
               "shape ",
               pivots.sizes(), " instead");
  HEARTH_CHECK(is_integral(pivots.scalar_type(), false), op,
               ": Expected pivots to be integers. Got ", name_of(pivots.scalar_type()));
  HEARTH_CHECK(ld.size(-1) == b.size(-2), "Incompatible matrix sizes for ", op,
               ": each A matrix is ", ld.size(-1), " by ", ld.size(-1), " but each b matrix is ",
               b.size(-2), " by ", b.size(-1));
  HEARTH_CHECK(ld.scalar_type() == b.scalar_type(),
               "Expected b and A to have the same dtype, but found b of type ",
               name_of(b.scalar_type()), " and A of type ", name_of(ld.scalar_type()), " instead.");
  check_real(ld, "ldl_solve_kernel_cpu");
  check_ldl_pivots(pivots);
}

Tensor solved_by_ldl(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  check_ldl_solve(ld, pivots, b);
  const Dims batch = common_batch(ld, b);
  const Tensor rows = pivots.to(kInt).expand(with_sizes(batch, {pivots.size(-1)}));
  return invoke<LdlSolve>({}, expand_batch(ld, batch), rows, expand_batch(b, batch)).call();
}

}  // namespace
}  // namespace linalg

using namespace linalg;

TensorTriple linalg_ldl_factor_ex(const Tensor& self, bool, bool check_errors) {
  const TensorTriple result = ldl_factors(self);
  if (check_errors) check_ldl("torch.linalg.ldl_factor_ex", std::get<2>(result));
  return result;
}
TensorPair linalg_ldl_factor(const Tensor& self, bool) {
  const auto [ld, pivots, info] = ldl_factors(self);
  check_ldl("torch.linalg.ldl_factor", info);
  return {ld, pivots};
}
HEARTH_DEFINE_TWO_OUT(linalg_ldl_factor, LD, pivots, (const Tensor& self, bool hermitian),
                      linalg_ldl_factor(self, hermitian))
HEARTH_DEFINE_THREE_OUT(linalg_ldl_factor_ex, LD, pivots, info,
                        (const Tensor& self, bool hermitian, bool check_errors),
                        linalg_ldl_factor_ex(self, hermitian, check_errors))
HEARTH_DEFINE_LINALG(linalg_ldl_solve,
                     (const Tensor& LD, const Tensor& pivots, const Tensor& B,
                      [[maybe_unused]] bool hermitian),
                     solved_by_ldl(LD, pivots, B))

}  // namespace hearth
