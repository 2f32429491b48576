// renorm, dist and norm_except_dim.
#include "hearth/operators.h"
#include "ops/composed_out.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// All dimensions but one.
Dims dims_except(const Tensor& self, int64_t dim) {
  Dims dims;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) dims.push_back(d);
  return dims;
}

struct Renorm {
  struct Args {
    double p;
    int64_t dim;
    double maxnorm;
    HEARTH_FIELDS(p, dim, maxnorm)
  };
  static constexpr OpInfo info{.name = "renorm", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  static Tensor compute(const Args& args, const Tensor& self) {
    constexpr double kEpsilon = 1e-7;
    const Dims dims = dims_except(self, args.dim);
    const Tensor norm =
        linalg_vector_norm(self, args.p, IntArrayRef(dims), true, wide_type(self.scalar_type()));
    const Tensor scale = where(norm > args.maxnorm, args.maxnorm / (norm + kEpsilon), 1.);
    return self.mul(scale.to(self.scalar_type()));
  }
};

Tensor renormed(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  HEARTH_CHECK(!p.isComplex(), "renorm: p must be real-valued");
  HEARTH_CHECK(p.toDouble() > 0, "renorm: non-positive-norm not supported");
  HEARTH_CHECK(!maxnorm.isComplex(), "renorm: maxnorm must be real-valued");
  HEARTH_CHECK(maxnorm.toDouble() >= 0, "renorm: expected maxnorm to be >= 0 but got ",
               maxnorm.toDouble());
  HEARTH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
               " dimensions");
  return compose<Renorm>({p.toDouble(), wrap_dim(dim, self.dim()), maxnorm.toDouble()}, self);
}

struct Dist {
  struct Args {
    double p;
    HEARTH_FIELDS(p)
  };
  static constexpr OpInfo info{.name = "dist", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& other) {
    return self.sub(other).norm(args.p);
  }
};

}  // namespace

HEARTH_DEFINE_COMPOSED(renorm, (const Scalar& p, int64_t dim, const Scalar& maxnorm),
                       renormed(self, p, dim, maxnorm))
HEARTH_DEFINE_COMPOSED_OUT(dist, (const Tensor& other, const Scalar& p),
                           compose<Dist>({p.toDouble()}, self, other))

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  check_defined("norm_except_dim", 0, "v", v);
  if (dim == -1) return v.norm(pow);
  const Dims dims = dims_except(v, wrap_dim(dim, v.dim()));
  if (dims.empty()) return pow == 0 ? v.ne(0).to(v.scalar_type()) : v.abs();
  return v.norm(std::optional<Scalar>(pow), IntArrayRef(dims), true);
}

}  // namespace hearth
