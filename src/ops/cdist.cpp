#include "ops/cdist.h"

#include "core/backends.h"
#include "functors/activation.h"
#include "functors/math.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/composed_gradient.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/pointwise.h"
#include "ops/promote.h"
#include "seam/cdist.h"
#include "seam/matmul.h"

namespace hearth {

Tensor cdist_composed(const Tensor& a, const Tensor& b, double p) {
  return a.unsqueeze(-2).sub(b.unsqueeze(-3)).norm(Scalar(p), IntArrayRef(-1));
}

namespace {

struct CdistArgs {
  double p;
  HEARTH_FIELDS(p)
};

/// The gradient of x1. Inputs: the distances' gradient [batch, rows, columns], x1 [batch, rows,
/// width], x2 [batch, columns, width] and the distances.
struct CdistBackward {
  using Args = CdistArgs;
  static constexpr OpInfo info{.name = "_cdist_backward",
                               .node = "CdistBackward",
                               .arguments = "grad,x1,x2,cdist",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1) | in_slot(2)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(1).sizes(), context.in(1).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, CdistBackwardParams{context.in(0), dense(context, context.in(1)),
                                                dense(context, context.in(2)), context.in(3),
                                                context.out(), args.p});
  }
  /// The same gradient by differentiable ops. It is 0 where a difference or a distance is 0.
  static Tensor formula(double p, const Tensor& grad, const Tensor& a, const Tensor& b) {
    if (p == 0 || a.numel() == 0) return zeros_like(a);
    const Tensor differences = a.unsqueeze(-2).sub(b.unsqueeze(-3)), g = grad.unsqueeze(-1);
    if (p == 2) {  // has a second derivative where a difference is 0
      const Tensor dist = differences.norm(Scalar(2), IntArrayRef(-1), true), is_zero = dist.eq(0);
      return g.mul(differences.div(dist.masked_fill(is_zero, 1)).masked_fill(is_zero, 0)).sum(-2);
    }
    const Tensor magnitudes = differences.abs();
    const Tensor dist = magnitudes.norm(Scalar(p), IntArrayRef(-1), true);
    if (p == 1) return g.mul(differences.sign()).sum(-2);
    if (std::isinf(p)) return g.mul(differences.sign()).mul(magnitudes.eq(dist)).sum(-2);
    const Tensor is_zero = dist.eq(0).logical_or(magnitudes.eq(0));
    const Tensor terms = differences.sign()
                             .mul(magnitudes.masked_fill(is_zero, 1).pow(p - 1))
                             .div(dist.masked_fill(dist.eq(0), 1).pow(p - 1));
    return g.mul(terms.masked_fill(is_zero, 0)).sum(-2);
  }
  static void grad(const Args& args, GradContext& context) {
    composed_gradient(context, 3, [&](const Tensor* in) {
      return std::vector<Tensor>{formula(args.p, in[0], in[1], in[2])};
    });
  }
};

/// Sets the gradients of x1 and x2.
void set_gradients(GradContext& context, double p, const Tensor& grad, const Tensor& dist) {
  const Tensor a = context.in(0), b = context.in(1);
  if (context.needs(0)) context.set(0, invoke<CdistBackward>({p}, grad, a, b, dist).call());
  if (context.needs(1))
    context.set(
        1, invoke<CdistBackward>({p}, grad.transpose(1, 2), b, a, dist.transpose(1, 2)).call());
}

/// The distances [batch, rows, columns] between the rows of x1 [batch, rows, width] and of x2
/// [batch, columns, width].
struct Cdist {
  using Args = CdistArgs;
  static constexpr OpInfo info{.name = "_cdist_forward",
                               .node = "Cdist",
                               .arguments = "x1,x2",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1) | out_slot(0)};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &a = context.in(0), &b = context.in(1);
    context.set(0, Dims{a.sizes()[0], a.sizes()[1], b.sizes()[1]}, a.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, CdistParams{dense(context, context.in(0)),
                                        dense(context, context.in(1)), context.out(), args.p});
  }
  static void grad(const Args& args, GradContext& context) {
    set_gradients(context, args.p, context.grad(), context.out());
  }
};

/// The distances between the rows i < j of a matrix that is passed as [1, rows, width].
struct Pdist {
  using Args = CdistArgs;
  static constexpr OpInfo info{.name = "_pdist_forward",
                               .node = "Pdist",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args&, InferContext& context) {
    const int64_t rows = context.in(0).sizes()[1];
    context.set(0, Dims{rows * (rows - 1) / 2}, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View rows = dense(context, context.in(0));
    run_kernel(context.ctx, CdistParams{rows, rows, context.out(), args.p, true});
  }
  /// The row indices i < j of all pairs, as [2, pairs].
  static Tensor pairs_of(int64_t rows, Device device) {
    return by_name::triu_indices(rows, rows, 1, TensorOptions(kLong).device(device));
  }
  /// The values of all pairs as a symmetric matrix with zeros on the diagonal.
  static Tensor square(const Tensor& pairs, int64_t rows) {
    const Tensor indices = pairs_of(rows, pairs.device());
    const Tensor upper =
        zeros({rows * rows}, pairs.options())
            .index_copy(0, indices.select(0, 0).mul(rows).add(indices.select(0, 1)), pairs)
            .view({rows, rows});
    return upper.add(upper.t()).unsqueeze(0);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor rows = context.in(0);
    const int64_t num_rows = rows.size(1);
    context.set(0, invoke<CdistBackward>({args.p}, square(context.grad(), num_rows), rows, rows,
                                         square(context.out(), num_rows))
                       .call());
  }
};

/// Launches out = F(out), elementwise.
template <class F>
void run_inplace(Ctx& ctx, const View& out, const F& functor) {
  static_assert(fn::arity<F> == 1);
  const View* const in[] = {&out};
  PointwiseParams params = pointwise_params(out, in, 1, out.dtype);
  params.functor = fn::number_of<F>;
  std::memcpy(params.parameters, &functor, sizeof functor);
  run_kernel(ctx, params);
}

/// The Euclidean distances by a matrix product: |a - b|^2 = |a|^2 - 2 a b + |b|^2. Inputs: x1
/// and x2, for the derivative, then matrices with the rows (-2 a, |a|^2, 1) and (b, 1, |b|^2); the
/// dot products of their rows are the squared distances.
struct EuclideanDist {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "_euclidean_dist",
                               .node = "EuclideanDist",
                               .arguments = "x1,x2,left,right",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1) | out_slot(0)};
  static void infer(const Args&, InferContext& context) { Cdist::infer({}, context); }
  static void launch(const Args&, LaunchContext& context) {
    MatmulParams params;
    params.a = context.in(2);
    params.b = context.in(3);
    std::swap(params.b.sizes[1], params.b.sizes[2]);
    std::swap(params.b.strides[1], params.b.strides[2]);
    params.out = context.out();
    run_kernel(context.ctx, params);
    run_inplace(context.ctx, params.out, fn::Relu{});
    run_inplace(context.ctx, params.out, fn::Sqrt{});
  }
  static void grad(const Args&, GradContext& context) {
    const Tensor a = context.in(0), b = context.in(1), dist = context.out();
    const Tensor ratio = context.grad().div(dist).masked_fill(dist.eq(0), 0);
    if (context.needs(0)) context.set(0, a.mul(ratio.sum(2, true)).sub(ratio.bmm(b)));
    if (context.needs(1))
      context.set(1, b.mul(ratio.sum(1).unsqueeze(2)).sub(ratio.transpose(1, 2).bmm(a)));
  }
};

/// Calls EuclideanDist.
Tensor euclidean(const Tensor& a, const Tensor& b) {
  const auto augmented = [&] {
    const NoGradGuard off;
    const auto norms = [](const Tensor& t) { return t.mul(t).sum(-1, true); };
    const Tensor x = a.detach(), y = b.detach(), x_norms = norms(x), y_norms = norms(y);
    return TensorPair{cat({x.mul(-2), x_norms, ones_like(x_norms)}, -1),
                      cat({y, ones_like(y_norms), y_norms}, -1)};
  }();
  return invoke<EuclideanDist>({}, a, b, std::get<0>(augmented), std::get<1>(augmented)).call();
}

struct CdistOfBatches {
  struct Args {
    double p;
    int64_t compute_mode;
    HEARTH_FIELDS(p, compute_mode)
  };
  static constexpr OpInfo info{.name = "cdist", .arguments = "x1,x2", .amp = Amp::kFloat32};

  static void check(const Args& args, const Tensor& a, const Tensor& b) {
    HEARTH_CHECK(a.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", a.dim(), "D");
    HEARTH_CHECK(b.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", b.dim(), "D");
    HEARTH_CHECK(a.size(-1) == b.size(-1),
                 "X1 and X2 must have the same number of columns. X1: ", a.size(-1),
                 " X2: ", b.size(-1));
    HEARTH_CHECK(a.is_floating_point(),
                 "cdist only supports floating-point dtypes, X1 got: ", name_of(a.scalar_type()));
    HEARTH_CHECK(b.is_floating_point(),
                 "cdist only supports floating-point dtypes, X2 got: ", name_of(b.scalar_type()));
    HEARTH_CHECK_AS(NotImplementedError, !is_reduced_float(a.scalar_type()),
                    "\"cdist\" not implemented for '", name_of(a.scalar_type()), "'");
    HEARTH_CHECK(a.scalar_type() == b.scalar_type(), "expected scalar type ",
                 name_of(a.scalar_type()), " but found ", name_of(b.scalar_type()));
    HEARTH_CHECK(args.p >= 0, "cdist only supports non-negative p values");
    HEARTH_CHECK(args.compute_mode >= 0 && args.compute_mode <= 2,
                 "possible modes: 0, 1, 2, but was: ", args.compute_mode);
  }
  static Tensor of_batches(const Args& args, const Tensor& a, const Tensor& b) {
    constexpr int64_t kFewRows = 25;  // PyTorch's limit for mode 0
    const bool has_many_rows = a.size(1) > kFewRows || b.size(1) > kFewRows;
    const bool uses_product = args.compute_mode == 1 || (args.compute_mode == 0 && has_many_rows);
    if (args.p == 2 && uses_product && a.size(1) > 0 && b.size(1) > 0) return euclidean(a, b);
    return has_kernel(a.device(), KernelId::Cdist) ? invoke<Cdist>({args.p}, a, b).call()
                                                   : cdist_composed(a, b, args.p);
  }
  static Tensor compute(const Args& args, const Tensor& a, const Tensor& b) {
    check(args, a, b);
    Dims batch = broadcast_sizes(a.sizes().slice(0, size_t(a.dim() - 2)),
                                 b.sizes().slice(0, size_t(b.dim() - 2)));
    int64_t batch_size = 1;
    for (const int64_t size : batch) batch_size *= size;
    const auto folded = [&](const Tensor& t) {
      Dims full = batch;
      full.push_back(t.size(-2));
      full.push_back(t.size(-1));
      return t.expand(full).reshape({batch_size, t.size(-2), t.size(-1)});
    };
    const Tensor result = of_batches(args, folded(a), folded(b));
    batch.push_back(a.size(-2));
    batch.push_back(b.size(-2));
    return result.view(batch);
  }
};

struct PdistOfRows {
  using Args = CdistArgs;
  static constexpr OpInfo info{
      .name = "pdist", .arguments = "self", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  static Tensor compute(const Args& args, const Tensor& self) {
    HEARTH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
    HEARTH_CHECK(self.is_floating_point(), "pdist only supports floating-point dtypes");
    HEARTH_CHECK(args.p >= 0, "pdist only supports non-negative p values");
    HEARTH_CHECK_AS(NotImplementedError, !is_reduced_float(self.scalar_type()),
                    "\"pdist\" not implemented for '", name_of(self.scalar_type()), "'");
    if (has_kernel(self.device(), KernelId::Cdist))
      return invoke<Pdist>({args.p}, self.unsqueeze(0)).call();
    const Tensor indices = Pdist::pairs_of(self.size(0), self.device());
    return self.index_select(0, indices.select(0, 0))
        .sub(self.index_select(0, indices.select(0, 1)))
        .norm(Scalar(args.p), IntArrayRef(-1));
  }
};

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  return compose<CdistOfBatches>({p, compute_mode.value_or(0)}, x1, x2);
}
Tensor pdist(const Tensor& self, double p) { return compose<PdistOfRows>({p}, self); }

}  // namespace hearth
