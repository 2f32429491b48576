// Singular value decompositions, and eigenvalues and eigenvectors of symmetric matrices.
#include <limits>

#include "autograd/tangents.h"
#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

/// Element [i][j] is 1 / (x[j] - x[i]) off the diagonal, 0 on it.
Tensor inverse_gaps(const Tensor& x) {
  const Tensor gaps = x.unsqueeze(-2).sub(x.unsqueeze(-1));
  const Tensor diagonal = by_name::eye(x.size(-1), gaps.options().dtype(kBool));
  return gaps.masked_fill(diagonal, std::numeric_limits<double>::infinity()).reciprocal();
}

/// The gradient, or zeros like the output.
Tensor or_zeros(const Tensor& grad, const Tensor& output) {
  return grad.defined() ? grad : zeros_like(output);
}

/// (U, S, Vh, info); info is LAPACK's.
struct Svd {
  struct Args {
    bool full, vectors;
    HEARTH_FIELDS(full, vectors)
  };
  static constexpr OpInfo info{.name = "_linalg_svd",
                               .node = "LinalgSvd",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = out_slot(0) | out_slot(1) | out_slot(2),
                               .outputs = 4,
                               .non_differentiable = out_slot(3)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& a = context.in(0);
    const Dims batch = batch_of(a.sizes());
    const int64_t m = a.sizes()[size_t(a.dim) - 2], n = a.sizes().back(), k = std::min(m, n);
    set_column_major(context, 0, with_sizes(batch, {m, args.full ? m : k}), a.dtype);
    context.set(1, with_sizes(batch, {k}), a.dtype);
    set_column_major(context, 2, with_sizes(batch, {args.full ? n : k, n}), a.dtype);
    context.set(3, batch, kInt);
    context.out(0).defined = context.out(2).defined = args.vectors;
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View a = context.in(0);
    const View copy = scratch_matrices(context.ctx, IntArrayRef(a.sizes, size_t(a.dim)), a.dtype);
    run_copy(context.ctx, copy, a);
    run_kernel(context.ctx, SvdParams{copy, context.out(0), context.out(1), context.out(2),
                                      context.out(3), args.vectors, args.full});
  }
  /// With dP = U^T dA V: dS is the diagonal of dP, and dU = U J with J[i][j] = (dP[i][j] * s[j] +
  /// s[i] * dP[j][i]) / (s[j]^2 - s[i]^2), plus the part of dA V S^-1 outside U's columns; dV
  /// likewise. Gradients of columns that the reduced factors do not have are ignored, as in
  /// PyTorch.
  static void grad(const Args& args, GradContext& context) {
    HEARTH_CHECK(args.vectors, "the derivative of singular values needs the singular vectors");
    const Tensor s = context.out(1);
    const int64_t k = s.size(-1);
    const Tensor u = context.out(0).narrow(-1, 0, k), vh = context.out(2).narrow(-2, 0, k);
    Tensor inner = zeros_like(s).diag_embed();
    if (context.grad(1).defined()) inner = context.grad(1).diag_embed();
    const bool has_u_grad = context.grad(0).defined(), has_v_grad = context.grad(2).defined();
    if (!has_u_grad && !has_v_grad) return context.set(0, u.matmul(inner).matmul(vh));
    const Tensor g_u = or_zeros(context.grad(0), context.out(0)).narrow(-1, 0, k);
    const Tensor g_v = or_zeros(context.grad(2), context.out(2)).narrow(-2, 0, k).mT();
    const Tensor gaps = inverse_gaps(s.mul(s)), row = s.unsqueeze(-2), column = s.unsqueeze(-1);
    const auto over_gaps = [&](const Tensor& x) { return x.sub(x.mT()).mul(gaps); };
    const Tensor ut_gu = u.mT().matmul(g_u), vt_gv = vh.matmul(g_v);
    inner = inner.add(over_gaps(ut_gu).mul(row)).add(over_gaps(vt_gv).mul(column));
    Tensor result = u.matmul(inner).matmul(vh);
    if (has_u_grad && u.size(-2) > k)
      result = result.add(g_u.sub(u.matmul(ut_gu)).div(row).matmul(vh));
    if (has_v_grad && vh.size(-1) > k)
      result = result.add(u.matmul(g_v.sub(vh.mT().matmul(vt_gv)).div(row).mT()));
    context.set(0, result);
  }
};

/// (eigenvalues, eigenvectors, info).
struct Eigh {
  struct Args {
    bool upper, vectors;
    HEARTH_FIELDS(upper, vectors)
  };
  static constexpr OpInfo info{.name = "_linalg_eigh",
                               .node = "LinalgEigh",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = out_slot(0) | out_slot(1),
                               .outputs = 3,
                               .non_differentiable = out_slot(2)};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl& a = context.in(0);
    context.set(0, batch_of(a.sizes(), 1), a.dtype);
    set_column_major(context, 1, a.sizes(), a.dtype);
    context.set(2, batch_of(a.sizes()), kInt);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_copy(context.ctx, context.out(1), context.in(0));
    run_fill(context.ctx, context.out(2), 0);
    run_kernel(context.ctx, EighParams{context.out(1), context.out(0), context.out(2), args.upper,
                                       args.vectors});
  }
  /// With dP = V^T dA V: the diagonal of dP is dw, and dV = V J with J[i][j] =
  /// dP[i][j] / (w[j] - w[i]). As in PyTorch, the gradient is symmetric.
  static void grad(const Args& args, GradContext& context) {
    HEARTH_CHECK(args.vectors, "the derivative of eigenvalues needs the eigenvectors");
    const Tensor w = context.out(0), v = context.out(1);
    Tensor inner;
    if (context.grad(0).defined()) inner = context.grad(0).diag_embed();
    if (context.grad(1).defined()) {
      const Tensor vt_gv = v.mT().matmul(context.grad(1));
      const Tensor over_gaps = vt_gv.sub(vt_gv.mT()).mul(0.5).mul(inverse_gaps(w));
      inner = inner.defined() ? inner.add(over_gaps) : over_gaps;
    }
    if (inner.defined()) context.set(0, v.matmul(inner).matmul(v.mT()));
  }
};

void check_driver(const std::optional<std::string_view>& driver) {
  HEARTH_CHECK(!driver,
               "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
               "cuSOLVER backend.");
}

void check_svd(const Tensor& a) {
  check_matrix(a, "linalg.svd");
  check_floating(a, "linalg.svd");
  check_real(a, "linalg_svd_cpu");
}

/// The factors of matrices without elements: identity matrices if `full`, else empty ones. The
/// empty singular values have a history, so that backward gives empty gradients.
std::vector<Tensor> empty_svd(const Tensor& a, bool full) {
  const Dims batch = batch_of(a.sizes());
  const TensorOptions options = a.options().requires_grad(false);
  const auto square = [&](int64_t n) {
    const Tensor identity = by_name::eye(n, full ? n : 0, options);
    return expand_batch(identity, batch).mT().contiguous().mT();
  };
  const Tensor v = square(a.size(-1));
  return {square(a.size(-2)), a.flatten(-2).narrow(-1, 0, 0).clone(), full ? v : v.mT()};
}

struct FullArgs {
  bool full;
  HEARTH_FIELDS(full)
};
TensorTriple svd_of_args(const FullArgs& args, const Tensor& a) {
  check_svd(a);
  const auto results = svd_of(a, args.full, true);
  return {results[0], results[1], results[2]};
}
Tensor svdvals_of(const NoArgs&, const Tensor& a) {
  check_svd(a);
  return singular_values(a);
}

struct UploArgs {
  bool upper;
  HEARTH_FIELDS(upper)
};
UploArgs triangle_of(std::string_view uplo) {
  const char letter = uplo.empty() ? ' ' : char(uplo[0] & ~0x20);  // in upper case
  HEARTH_CHECK(uplo.size() == 1 && (letter == 'L' || letter == 'U'),
               "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  return {letter == 'U'};
}
void check_eigh(const Tensor& a) {
  check_square(a, "linalg.eigh");
  check_real(a, "linalg_eigh_cpu");
}
TensorPair eigh_of_args(const UploArgs& args, const Tensor& a) {
  check_eigh(a);
  return eigh_of(a, args.upper, true);
}
Tensor eigvalsh_of(const UploArgs& args, const Tensor& a) {
  check_eigh(a);
  return std::get<0>(eigh_of(a, args.upper, autograd::wants_derivative(a)));
}

constexpr OpInfo kSvd = float32_under_cpu_autocast("linalg_svd"),
                 kSvdvals = float32_under_cpu_autocast("linalg_svdvals"),
                 kEigh = float32_under_cpu_autocast("linalg_eigh"),
                 kEigvalsh = float32_under_cpu_autocast("linalg_eigvalsh"),
                 kOldSvd = float32_under_cpu_autocast("svd", "self");

struct OldSvdArgs {
  bool some, vectors;
  HEARTH_FIELDS(some, vectors)
};
/// svd, the older form of linalg_svd: returns V, not Vh, and zeros as U and V without `vectors`.
TensorTriple old_svd_of(const OldSvdArgs& args, const Tensor& a) {
  HEARTH_CHECK(a.dim() >= 2, "linalg.svd: input should have at least 2 dimensions, but has ",
               a.dim(), " dimensions instead");
  check_svd(a);
  if (args.vectors) {
    const auto results = svd_of(a, !args.some, true);
    return {results[0], results[1], results[2].mT()};
  }
  const auto square = [&](int64_t n) {
    return zeros(with_sizes(batch_of(a.sizes()), {n, n}), a.options().requires_grad(false));
  };
  return {square(a.size(-2)), singular_values(a), square(a.size(-1))};
}

std::string text_of_repeated(const char* values, int code) {
  return detail::str(
      "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
      "many repeated ",
      values, " (error code: ", code, ").");
}

}  // namespace

std::vector<Tensor> svd_of(const Tensor& a, bool full, bool vectors) {
  if (std::min(a.size(-2), a.size(-1)) == 0) return empty_svd(a, full);
  std::vector<Tensor> results = invoke<Svd>({full, vectors}, a).all();
  check_info("linalg.svd", results[3], [](int code) {
    if (code == -4)  // LAPACK's argument 4, the matrix, is invalid
      return std::string(
          "The algorithm failed to converge because the input matrix contained non-finite values.");
    return text_of_repeated("singular values", code);
  });
  return results;
}

Tensor singular_values(const Tensor& a) {
  return svd_of(a, false, autograd::wants_derivative(a))[1];
}

TensorPair eigh_of(const Tensor& a, bool upper, bool vectors) {
  const auto [w, v, info] = invoke<Eigh>({upper, vectors}, a).triple();
  check_info("linalg.eigh", info, [](int code) { return text_of_repeated("eigenvalues", code); });
  return {w, v};
}

}  // namespace linalg

using namespace linalg;

TensorTriple linalg_svd(const Tensor& A, bool full_matrices,
                        std::optional<std::string_view> driver) {
  check_driver(driver);
  return compose<Composed<kSvd, FullArgs, svd_of_args>>({full_matrices}, A);
}
HEARTH_DEFINE_THREE_OUT(linalg_svd, U, S, Vh,
                        (const Tensor& A, bool full_matrices,
                         std::optional<std::string_view> driver),
                        linalg_svd(A, full_matrices, driver))
Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  check_driver(driver);
  return compose<Composed<kSvdvals, NoArgs, svdvals_of>>({}, A);
}
HEARTH_DEFINE_WRITE_OUT(linalg_svdvals, (const Tensor& A, std::optional<std::string_view> driver),
                        linalg_svdvals(A, driver))
HEARTH_DEFINE_METHOD(TensorTriple, svd, (bool some, bool compute_uv),
                     compose<Composed<kOldSvd, OldSvdArgs, old_svd_of>>({some, compute_uv}, self))
HEARTH_DEFINE_THREE_OUT(svd, U, S, V, (const Tensor& self, bool some, bool compute_uv),
                        svd(self, some, compute_uv))

TensorPair linalg_eigh(const Tensor& self, std::string_view UPLO) {
  return compose<Composed<kEigh, UploArgs, eigh_of_args>>(triangle_of(UPLO), self);
}
HEARTH_DEFINE_TWO_OUT(linalg_eigh, eigvals, eigvecs, (const Tensor& self, std::string_view UPLO),
                      linalg_eigh(self, UPLO))
HEARTH_DEFINE_LINALG(linalg_eigvalsh, (const Tensor& self, std::string_view UPLO),
                     compose<Composed<kEigvalsh, UploArgs, eigvalsh_of>>(triangle_of(UPLO), self))

}  // namespace hearth
