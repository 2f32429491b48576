// Eigenvalues of matrices that need not be symmetric.
#include "autograd/tangents.h"
#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

/// X with a X = b for complex matrices, as a real equation of twice the size.
Tensor solve_complex(const Tensor& a, const Tensor& b) {
  const Tensor re = real(a), im = imag(a);
  const Tensor blocks = cat({cat({re, im.neg()}, -1), cat({im, re}, -1)}, -2);
  const Tensor parts = linalg_solve(blocks, cat({real(b), imag(b)}, -2));
  const int64_t n = a.size(-1);
  return make_complex(parts.narrow(-2, 0, n), parts.narrow(-2, n, n));
}

/// (eigenvalues, eigenvectors, info).
struct Eig {
  struct Args {
    bool vectors;
    HEARTH_FIELDS(vectors)
  };
  static constexpr OpInfo info{.name = "_linalg_eig",
                               .node = "LinalgEig",
                               .arguments = "A",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = out_slot(0) | out_slot(1),
                               .outputs = 3,
                               .non_differentiable = out_slot(2),
                               .complex_grad = ComplexGrad::kOwn};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& a = context.in(0);
    const ScalarType type = to_complex(a.dtype);
    context.set(0, batch_of(a.sizes(), 1), type);
    if (args.vectors)
      set_column_major(context, 1, a.sizes(), type);
    else
      context.set(1, {0}, type);
    context.set(2, batch_of(a.sizes()), kInt);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View a = context.in(0);
    const View copy = scratch_matrices(context.ctx, IntArrayRef(a.sizes, size_t(a.dim)), a.dtype);
    run_copy(context.ctx, copy, a);
    run_fill(context.ctx, context.out(2), 0);
    run_kernel(context.ctx,
               EigParams{copy, context.out(0), context.out(1), context.out(2), args.vectors});
  }
  /// Throws if the loss depends on the phases of the eigenvectors, which are arbitrary.
  static void check_phase(const Tensor& along) {
    if (along.is_meta()) return;
    HEARTH_CHECK(imag(along).abs().le(1e-2).all().item<bool>(),
                 "linalg_eig_backward: The eigenvectors in the complex case are specified up to "
                 "multiplication by e^{i phi}. The specified loss function depends on this "
                 "quantity, so it is ill-defined.");
  }
  /// V^H gV without the part that changes the columns' lengths, divided elementwise by the
  /// conjugate differences of the eigenvalues.
  static Tensor inner_of_vectors(const Tensor& w, const Tensor& v, const Tensor& g_v) {
    const Tensor vh_gv = v.mH().matmul(g_v), along = diagonal_of(vh_gv);
    check_phase(along);
    const Tensor lengths = real(along).unsqueeze(-2).to(v.scalar_type());
    const Tensor across = vh_gv.sub(v.mH().matmul(v.mul(lengths)));
    const Tensor gaps = w.unsqueeze(-2).sub(w.unsqueeze(-1)).conj();
    const Tensor is_diagonal = identity_like(real(v), batch_of(v.sizes())).to(kBool);
    return across.div(gaps.masked_fill(is_diagonal, 1)).masked_fill(is_diagonal, 0);
  }
  /// V^-H (diag(gw) + inner_of_vectors) V^H; A is real, so its gradient is the real part.
  static void grad(const Args& args, GradContext& context) {
    HEARTH_CHECK(args.vectors, "the derivative of eigenvalues needs the eigenvectors");
    const Tensor w = context.out(0), v = context.out(1);
    Tensor inner;
    if (context.grad(0).defined()) inner = context.grad(0).diag_embed();
    if (context.grad(1).defined()) {
      const Tensor of_vectors = inner_of_vectors(w, v, context.grad(1));
      inner = inner.defined() ? inner.add(of_vectors) : of_vectors;
    }
    if (!inner.defined()) return;
    const Tensor vh = v.mH();
    context.set(0, real(solve_complex(vh, inner.matmul(vh))));
  }
};

TensorPair eig_of(const Tensor& a, bool vectors) {
  check_square(a, "linalg.eig");
  HEARTH_CHECK(is_differentiable(a.scalar_type()), "Unknown Complex ScalarType for ",
               name_of(a.scalar_type()));
  check_real(a, "linalg_eig_out_cpu");
  HEARTH_CHECK(a.is_meta() || a.isfinite().all().item<bool>(),
               "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const auto [w, v, info] = invoke<Eig>({vectors}, a).triple();
  check_info("linalg.eig", info, [](int code) {
    return detail::str(
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
        "many repeated eigenvalues (error code: ",
        code, ").");
  });
  return {w, v};
}

TensorPair eig_of_args(const NoArgs&, const Tensor& a) { return eig_of(a, true); }
Tensor eigvals_of(const NoArgs&, const Tensor& a) {
  return std::get<0>(eig_of(a, autograd::wants_derivative(a)));
}
constexpr OpInfo kEig = float32_under_cpu_autocast("linalg_eig"),
                 kEigvals = float32_under_cpu_autocast("linalg_eigvals");

}  // namespace
}  // namespace linalg

using namespace linalg;

TensorPair linalg_eig(const Tensor& self) {
  return compose<Composed<kEig, NoArgs, eig_of_args>>({}, self);
}
HEARTH_DEFINE_TWO_OUT(linalg_eig, eigenvalues, eigenvectors, (const Tensor& self), linalg_eig(self))
HEARTH_DEFINE_LINALG(linalg_eigvals, (const Tensor& self),
                     compose<Composed<kEigvals, NoArgs, eigvals_of>>({}, self))

}  // namespace hearth
