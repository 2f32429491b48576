#include "hearth/operators.h"
#include "ops/define.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// sqrt(t), whose gradient at 0 is 0.
Tensor safe_sqrt(const Tensor& t) {
  const Tensor zero = t.eq(0);
  const Tensor root = where(zero, ones({}, t.options()), t).sqrt();
  return where(zero, zeros({}, t.options()), root);
}

struct CosineSimilarity {
  struct Args {
    int64_t dim;
    double eps;
    HEARTH_FIELDS(dim, eps)
  };
  static constexpr OpInfo info{
      .name = "cosine_similarity", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  static Tensor compute(const Args& args, const Tensor& x1, const Tensor& x2) {
    const Dims sizes = broadcast_sizes(x1.sizes(), x2.sizes());
    // Expanded, so that 0-d inputs count in the promotion.
    const Tensor a = x1.expand(sizes), b = x2.expand(sizes);
    const ScalarType type = result_type(a, b);
    HEARTH_CHECK(is_floating_point(type),
                 "expected common dtype to be floating point, yet common dtype is ", name_of(type));
    const auto unit = [&](const Tensor& t) {
      const Tensor norm = safe_sqrt(t.mul(t).sum(args.dim, true));
      // A norm below eps counts as eps but keeps its gradient.
      return t.div(where(norm.lt(args.eps), norm - norm.detach() + args.eps, norm));
    };
    return unit(a.to(type)).mul(unit(b.to(type))).sum(args.dim);
  }
};

struct PairwiseDistance {
  struct Args {
    double p, eps;
    bool keepdim;
    HEARTH_FIELDS(p, eps, keepdim)
  };
  static constexpr OpInfo info{.name = "pairwise_distance"};
  static Tensor compute(const Args& args, const Tensor& x1, const Tensor& x2) {
    return x1.sub(x2).add(args.eps).norm(args.p, {-1}, args.keepdim);
  }
};

}  // namespace

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  return compose<CosineSimilarity>({dim, eps}, x1, x2);
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return compose<PairwiseDistance>({p, eps, keepdim}, x1, x2);
}

}  // namespace hearth
