// The QR factorization and products of reflections.
#include <utility>

#include "ops/linalg.h"
#include "seam/triangle.h"

namespace hearth {

namespace linalg {
namespace {

/// (Q, R); Q is empty if only R is computed.
struct Qr {
  struct Args {
    bool complete, only_r;
    HEARTH_FIELDS(complete, only_r)
  };
  static constexpr OpInfo info{.name = "_linalg_qr",
                               .node = "LinalgQr",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = out_slot(0) | out_slot(1),
                               .outputs = 2};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& a = context.in(0);
    const Dims batch = batch_of(a.sizes());
    const int64_t m = a.sizes()[size_t(a.dim) - 2], n = a.sizes().back();
    const int64_t inner = args.complete ? m : std::min(m, n);
    if (args.only_r)
      context.set(0, {0}, a.dtype);
    else
      set_column_major(context, 0, with_sizes(batch, {m, inner}), a.dtype);
    set_column_major(context, 1, with_sizes(batch, {inner, n}), a.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View a = context.in(0), q = context.out(0), r = context.out(1);
    const int rows = a.dim - 2, columns = a.dim - 1;
    const int64_t k = std::min(a.sizes[rows], a.sizes[columns]);
    const View factors =
        scratch_matrices(context.ctx, IntArrayRef(a.sizes, size_t(a.dim)), a.dtype);
    View tau = narrowed(factors, columns, k);
    tau.dim = int8_t(a.dim - 1);
    tau.sizes[rows] = k;
    tau.numel = k == 0 ? 0 : tau.numel / a.sizes[rows];
    tau.make_contiguous();
    tau.data = context.ctx.scratch(size_t(std::max<int64_t>(tau.numel, 1)) *
                                   size_t(element_size(tau.dtype)));
    run_copy(context.ctx, factors, a);
    run_kernel(context.ctx, QrFactorParams{factors, tau});
    if (r.numel > 0)
      run_kernel(context.ctx, TriangleParams{narrowed(factors, rows, r.sizes[rows]), r, 0, true});
    if (args.only_r || q.numel == 0) return;
    const int64_t num_copied = std::min(q.sizes[columns], a.sizes[columns]);
    if (num_copied > 0)
      run_copy(context.ctx, narrowed(q, columns, num_copied),
               narrowed(factors, columns, num_copied));
    run_kernel(context.ctx, HouseholderProductParams{q, tau});
  }
  /// From A = Q R with Q^T Q = 1: Q^T dA R^-1 is the sum of the antisymmetric Q^T dQ and the upper
  /// triangle dR R^-1. The columns of a wide A beyond the square part are Q times those of R.
  static void grad(const Args& args, GradContext& context) {
    HEARTH_CHECK(!args.only_r,
                 "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
                 "Please use linalg.qr(A, mode='reduced') if you are going to differentiate "
                 "through linalg.qr.");
    const Tensor q = context.out(0), r = context.out(1);
    const int64_t m = q.size(-2), n = r.size(-1), k = std::min(m, n);
    HEARTH_CHECK(!args.complete || m <= n,
                 "The QR decomposition is not differentiable when mode='complete' and nrows > "
                 "ncols.");
    Tensor g_q = context.grad(0).defined() ? context.grad(0) : zeros_like(q);
    const Tensor g_r = context.grad(1).defined() ? context.grad(1) : zeros_like(r);
    const Tensor r1 = r.narrow(-1, 0, k), rest = r.narrow(-1, k, n - k);
    const Tensor g_rest = g_r.narrow(-1, k, n - k);
    if (n > k) g_q = g_q.add(q.matmul(rest).matmul(g_rest.mT()));
    const Tensor inner = r1.matmul(g_r.narrow(-1, 0, k).triu().mT()).sub(g_q.mT().matmul(q));
    const Tensor symmetric = inner.tril().add(inner.tril(-1).mT());
    const Tensor left = g_q.add(q.matmul(symmetric));
    const Tensor first = solve_triangle(r1, left.mT(), true, false).mT();
    context.set(0, n > k ? cat({first, q.matmul(g_rest)}, -1) : first);
  }
};

/// A = Q R in LAPACK's form: R above the vectors of the reflections, and tau, their factors.
struct Geqrf {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_geqrf", .dtypes = dtypes::kFloatAndDouble, .outputs = 2};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& a = context.in(0);
    const int64_t m = a.sizes()[size_t(a.dim) - 2], n = a.sizes().back();
    set_column_major(context, 0, a.sizes(), a.dtype);
    context.set(1, with_sizes(batch_of(a.sizes()), {std::min(m, n)}), a.dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out(0), context.in(0));
    run_kernel(context.ctx, QrFactorParams{context.out(0), context.out(1)});
  }
};

/// The first columns of a product of reflections.
struct HouseholderProduct {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "linalg_householder_product",
                               .node = "LinalgHouseholderProduct",
                               .arguments = "input,tau",
                               .dtypes = dtypes::kFloatAndDouble,
                               .amp_cpu = Amp::kFloat32,
                               .saves = in_slot(0) | in_slot(1)};
  static void infer(const Args&, InferContext& context) {
    const ScalarType dtype = context.in(0).dtype, tau_dtype = context.in(1).dtype;
    HEARTH_CHECK(tau_dtype == dtype, "torch.linalg.householder_product: tau dtype ",
                 name_of(tau_dtype), " does not match input dtype ", name_of(dtype));
    set_column_major(context, 0, context.in(0).sizes(), dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    run_copy(context.ctx, context.out(), context.in(0));
    run_kernel(context.ctx, HouseholderProductParams{context.out(), dense(context, context.in(1))});
  }
  /// The same product by differentiable ops, one reflection at a time.
  static Tensor formula(const Tensor& input, const Tensor& tau) {
    const int64_t rows = input.size(-2), columns = input.size(-1);
    const Tensor identity = by_name::eye(rows, columns, input.options().requires_grad(false));
    const Tensor vectors = input.tril(-1).add(identity);
    Tensor product = expand_batch(identity, batch_of(input.sizes()));
    for (int64_t i = tau.size(-1); i-- > 0;) {
      const Tensor v = vectors.narrow(-1, i, 1), factor = tau.narrow(-1, i, 1).unsqueeze(-1);
      product = product.sub(factor.mul(v).matmul(v.mT().matmul(product)));
    }
    return product;
  }
  static void grad(const Args&, GradContext& context) {
    composed_gradient(context, 2,
                      [](const Tensor* in) { return std::vector<Tensor>{formula(in[0], in[1])}; });
  }
};

Qr::Args mode_of(std::string_view mode) {
  HEARTH_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
               "qr received unrecognized mode '", mode,
               "' but expected one of 'reduced' (default), 'r', or 'complete'");
  return {mode == "complete", mode == "r"};
}

TensorPair qr_of(const Qr::Args& args, const Tensor& a) {
  check_matrix(a, "linalg.qr");
  check_floating(a, "linalg.qr");
  check_real(a, "geqrf_cpu");
  return invoke<Qr>(args, a).pair();
}
constexpr OpInfo kQr = float32_under_cpu_autocast("linalg_qr"),
                 kGeqrf = float32_under_cpu_autocast("geqrf", "self");

TensorPair geqrf_of(const NoArgs&, const Tensor& a) {
  HEARTH_CHECK(a.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  check_real(a, "geqrf_cpu");
  return invoke<Geqrf>({}, a).pair();
}

Tensor product_of(const Tensor& input, const Tensor& tau) {
  constexpr const char* op = "torch.linalg.householder_product: ";
  check_defined("linalg_householder_product", 0, "input", input);
  check_defined("linalg_householder_product", 1, "tau", tau);
  HEARTH_CHECK(input.dim() >= 2, op, "input must have at least 2 dimensions.");
  HEARTH_CHECK(input.size(-2) >= input.size(-1), op,
               "input.shape[-2] must be greater than or equal to input.shape[-1]");
  HEARTH_CHECK(input.size(-1) >= tau.size(-1), op,
               "input.shape[-1] must be greater than or equal to tau.shape[-1]");
  HEARTH_CHECK(input.dim() - tau.dim() == 1, op,
               "Expected tau to have one dimension less than input, but got tau.ndim equal to ",
               tau.dim(), " and input.ndim is equal to ", input.dim());
  HEARTH_CHECK(batch_of(input.sizes()) == batch_of(tau.sizes(), 1), op,
               "Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
               IntArrayRef(batch_of(tau.sizes(), 1)));
  return invoke<HouseholderProduct>({}, input, tau).call();
}

void check_ormqr(const Tensor& input, const Tensor& tau, const Tensor& other, bool left) {
  constexpr const char* op = "torch.ormqr: ";
  HEARTH_CHECK(input.dim() >= 2, op, "input must have at least 2 dimensions.");
  HEARTH_CHECK(other.dim() >= 2, op, "other must have at least 2 dimensions.");
  const int64_t dim = left ? -2 : -1;
  HEARTH_CHECK(other.size(dim) == input.size(-2), op, "other.shape[", dim,
               "] must be equal to input.shape[-2]");
  HEARTH_CHECK(input.dim() - tau.dim() == 1, op,
               "Expected tau to have one dimension less than input, but got tau.ndim equal to ",
               tau.dim(), " and input.ndim is equal to ", input.dim());
  HEARTH_CHECK(tau.size(-1) == std::min(other.size(dim), input.size(-1)), op,
               "tau.shape[-1] must be equal to min(other.shape[", dim, "], input.shape[-1])");
  HEARTH_CHECK(input.dim() == other.dim(), op,
               "Expected other to have the same number of dimensions as input, but got other.ndim "
               "equal to ",
               other.dim(), " and input.ndim is equal to ", input.dim());
  const Dims batch = batch_of(input.sizes());
  for (const auto& [name, own] :
       {std::pair("tau", batch_of(tau.sizes(), 1)), std::pair("other", batch_of(other.sizes()))})
    HEARTH_CHECK(own == batch, op, "Expected batch dimensions of ", name,
                 " to be equal to input.shape[:-2], but got ", IntArrayRef(own));
  for (const auto& [name, tensor] : {std::pair("tau", &tau), std::pair("other", &other)})
    HEARTH_CHECK(tensor->scalar_type() == input.scalar_type(), op, "Expected input and ", name,
                 " to have the same dtype, but input has dtype", name_of(input.scalar_type()),
                 " and ", name, " has dtype ", name_of(tensor->scalar_type()));
  check_real(input, "ormqr_cpu");
}

/// Applies the reflections one by one to the columns of `other` or, if not left, to its rows.
Tensor reflected(const Tensor& input, const Tensor& tau, const Tensor& other, bool left,
                 bool transpose) {
  if (!left) return reflected(input, tau, other.mT(), true, !transpose).mT();
  const int64_t count = tau.size(-1);
  const Tensor identity =
      by_name::eye(input.size(-2), input.size(-1), input.options().requires_grad(false));
  const Tensor vectors = input.tril(-1).add(identity);
  Tensor result = other;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = transpose ? i : count - 1 - i;
    const Tensor v = vectors.narrow(-1, k, 1), factor = tau.narrow(-1, k, 1).unsqueeze(-1);
    result = result.sub(factor.mul(v).matmul(v.mT().matmul(result)));
  }
  return result;
}

struct OrmqrArgs {
  bool left, transpose;
  HEARTH_FIELDS(left, transpose)
};
constexpr OpInfo kOrmqr = float32_under_cpu_autocast("ormqr", "self,input2,input3");

Tensor ormqr_of(const OrmqrArgs& args, const Tensor& input, const Tensor& tau,
                const Tensor& other) {
  check_ormqr(input, tau, other, args.left);
  return reflected(input, tau, other, args.left, args.transpose);
}

}  // namespace
}  // namespace linalg

using namespace linalg;

TensorPair linalg_qr(const Tensor& A, std::string_view mode) {
  return compose<Composed<kQr, Qr::Args, qr_of>>(mode_of(mode), A);
}
HEARTH_DEFINE_TWO_OUT(linalg_qr, Q, R, (const Tensor& A, std::string_view mode), linalg_qr(A, mode))
HEARTH_DEFINE_METHOD(TensorPair, geqrf, (), compose<Composed<kGeqrf, NoArgs, geqrf_of>>({}, self))
HEARTH_DEFINE_TWO_OUT(geqrf, a, tau, (const Tensor& self), geqrf(self))
HEARTH_DEFINE_LINALG(linalg_householder_product, (const Tensor& input, const Tensor& tau),
                     product_of(input, tau))
HEARTH_DEFINE_COMPOSED_OUT(ormqr,
                           (const Tensor& input2, const Tensor& input3, bool left, bool transpose),
                           compose<Composed<kOrmqr, OrmqrArgs, ormqr_of>>({left, transpose}, self,
                                                                          input2, input3))
HEARTH_DEFINE_COMPOSED_OUT(orgqr, (const Tensor& input2), product_of(self, input2))

}  // namespace hearth
