// Differences of neighbours, integrals by the trapezoidal rule, and powers of vectors.
#include "ops/composed_out.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// Checks that a tensor can be joined with self along dim.
void check_joined(const Tensor& self, const std::optional<Tensor>& other, int64_t dim) {
  if (!or_undefined(other).defined()) return;
  HEARTH_CHECK(self.dim() == other->dim(),
               "diff expects prepend or append to be the same dimension as input");
  for (int64_t d = 0; d < self.dim(); ++d)
    HEARTH_CHECK(d == dim || self.size(d) == other->size(d),
                 "diff expects the shape of tensor to prepend or append to match that of input "
                 "except along the differencing dimension; input.size(",
                 d, ") = ", self.size(d), ", but got tensor.size(", d, ") = ", other->size(d));
}

Tensor joined_parts(const Tensor& self, int64_t dim, const std::optional<Tensor>& prepend,
                    const std::optional<Tensor>& append) {
  std::vector<Tensor> parts;
  if (or_undefined(prepend).defined()) parts.push_back(*prepend);
  parts.push_back(self);
  if (or_undefined(append).defined()) parts.push_back(*append);
  return parts.size() == 1 ? self : cat(parts, dim);
}

Tensor differences(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
                   const std::optional<Tensor>& append) {
  HEARTH_CHECK(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  HEARTH_CHECK(n >= 0, "order must be non-negative but got ", n);
  dim = wrap_dim(dim, self.dim());
  check_joined(self, prepend, dim);
  check_joined(self, append, dim);
  if (n == 0) return self.clone();
  Tensor result = joined_parts(self, dim, prepend, append);
  for (int64_t left = result.size(dim); n > 0 && left > 0; --n, --left) {
    const Tensor after = result.narrow(dim, 1, left - 1), before = result.narrow(dim, 0, left - 1);
    result = result.scalar_type() == kBool ? after.logical_xor(before) : after.sub(before);
  }
  return result;
}

/// Zeros in y's sizes without dimension dim: the integral over no points.
Tensor empty_integral(const Tensor& y, int64_t dim) {
  Dims sizes;
  for (int64_t d = 0; d < y.dim(); ++d)
    if (d != dim) sizes.push_back(y.size(d));
  return zeros(sizes, y.options());
}

/// The distances of the points x, in sizes that broadcast with y's along dim.
Tensor distances(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  HEARTH_CHECK_AS(NotImplementedError, y.scalar_type() != kBool && x.scalar_type() != kBool, op,
                  ": received a bool input for `x` or `y`, but bool is not supported");
  Tensor points = x;
  if (x.dim() == 1) {
    HEARTH_CHECK(x.size(0) == y.size(dim), op,
                 ": There must be one `x` value for each sample point");
    Dims sizes(size_t(y.dim()), 1);
    sizes[size_t(dim)] = x.size(0);
    points = x.view(sizes);
  } else if (x.dim() < y.dim()) {
    Dims sizes(size_t(y.dim() - x.dim()), 1);
    for (const int64_t size : x.sizes()) sizes.push_back(size);
    points = x.view(sizes);
  }
  return points.slice(dim, 1).sub(points.slice(dim, 0, -1));
}

/// dx as a number, checked.
double distance_of(const char* op, const Tensor& y, const Scalar& dx) {
  HEARTH_CHECK_AS(NotImplementedError, y.scalar_type() != kBool, op,
                  ": received a bool input for `y`, but bool is not supported");
  HEARTH_CHECK(!dx.isComplex() && !dx.isBoolean(), op,
               ": Currently, we only support dx as a real number.");
  return dx.toDouble();
}

/// The sums of neighbours along dim.
Tensor neighbour_sums(const Tensor& y, int64_t dim) {
  return y.slice(dim, 1).add(y.slice(dim, 0, -1));
}

/// The number of vander's columns.
int64_t count_of(const Tensor& x, std::optional<int64_t> n) {
  HEARTH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  HEARTH_CHECK(!n || *n >= 0, "N must be non-negative.");
  return n.value_or(x.size(0));
}

}  // namespace

HEARTH_DEFINE_COMPOSED_OUT(diff,
                           (int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
                            const std::optional<Tensor>& append),
                           differences(self, n, dim, prepend, append))

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  check_defined("trapezoid", 0, "y", y);
  check_defined("trapezoid", 1, "x", x);
  dim = wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) return empty_integral(y, dim);
  return neighbour_sums(y, dim).mul(distances("trapezoid", y, x, dim)).sum(dim).div(2.);
}
Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_defined("trapezoid", 0, "y", y);
  dim = wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) return empty_integral(y, dim);
  const double distance = distance_of("trapezoid", y, dx);
  return y.sum(dim).sub(y.select(dim, 0).add(y.select(dim, -1)).mul(0.5)).mul(distance);
}
Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) { return trapezoid(y, x, dim); }
Tensor trapz(const Tensor& y, double dx, int64_t dim) { return trapezoid(y, Scalar(dx), dim); }

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  check_defined("cumulative_trapezoid", 0, "y", y);
  check_defined("cumulative_trapezoid", 1, "x", x);
  dim = wrap_dim(dim, y.dim());
  const Tensor widths = distances("cumulative_trapezoid", y, x, dim);
  return widths.mul(neighbour_sums(y, dim)).cumsum(dim).div(2.);
}
Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_defined("cumulative_trapezoid", 0, "y", y);
  dim = wrap_dim(dim, y.dim());
  const double half = distance_of("cumulative_trapezoid", y, dx) / 2;
  return neighbour_sums(y, dim).mul(half).cumsum(dim);
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  check_defined("vander", 0, "x", x);
  const int64_t n = count_of(x, N), rows = x.size(0);
  const Tensor base = x.to(promote_types(x.scalar_type(), kLong)).unsqueeze(1);
  if (n == 0) return empty({rows, 0}, base.options());
  const Tensor one = ones({rows, 1}, base.options());
  const Tensor powers = cat({one, base.expand({rows, n - 1}).cumprod(1)}, 1);
  return increasing ? powers : powers.flip({1});
}

}  // namespace hearth
