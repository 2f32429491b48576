// Differences of neighbours, integrals by the trapezoidal rule, and powers of vectors.
#include <algorithm>

#include "hearth/operators.h"
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

namespace {

/// The dimensions of gradient(): the given ones or all. Throws if the arguments do not fit.
std::vector<int64_t> gradient_dims(const Tensor& self, std::optional<size_t> spacings,
                                   OptionalIntArrayRef dim, int64_t edge_order) {
  check_defined("gradient", 0, "self", self);
  HEARTH_CHECK_AS(NotImplementedError, self.scalar_type() != kByte,
                  "torch.gradient does not support uint8 input.");
  HEARTH_CHECK(!spacings || dim || *spacings == size_t(self.dim()),
               "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
               "equal to 'self.dim() = ",
               self.dim(), "', since dim argument was not given, but got a list of length ",
               *spacings);
  HEARTH_CHECK(
      !spacings || !dim || *spacings == dim->size(),
      "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
      "arguments to have the same length, but got a spacing argument of length ",
      *spacings, " and a dim argument of length ", dim->size(), ".");
  HEARTH_CHECK(edge_order == 1 || edge_order == 2,
               "torch.gradient only supports edge_order=1 and edge_order=2.");
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < (dim ? int64_t(dim->size()) : self.dim()); ++i) {
    const int64_t d = dim ? wrap_dim((*dim)[size_t(i)], self.dim()) : i;
    HEARTH_CHECK(std::find(dims.begin(), dims.end(), d) == dims.end(), "dim ", d,
                 " appears multiple times in the list of dims");
    dims.push_back(d);
  }
  for (const int64_t d : dims)
    HEARTH_CHECK(self.size(d) > edge_order,
                 "torch.gradient expected each dimension size to be at least edge_order+1");
  return dims;
}

/// The gradient along a dimension whose neighbours have the distance dx.
Tensor slope_along(const Tensor& self, int64_t dim, const Scalar& dx, int64_t edge_order) {
  const int64_t n = self.size(dim);
  const auto row = [&](int64_t i) { return self.narrow(dim, i, 1); };
  const Tensor inner = self.narrow(dim, 2, n - 2).sub(self.narrow(dim, 0, n - 2)).div(dx).div(2);
  if (edge_order == 1)
    return cat({row(1).sub(row(0)).div(dx), inner, row(n - 1).sub(row(n - 2)).div(dx)}, dim);
  const Tensor first = row(0).mul(-1.5).add(row(1), 2).sub(row(2), 0.5).div(dx);
  const Tensor last = row(n - 1).mul(1.5).sub(row(n - 2), 2).add(row(n - 3), 0.5).div(dx);
  return cat({first, inner, last}, dim);
}

/// The derivative at t of the parabola through three points with the distances d1 and d2 and the
/// values f0, f1 and f2; t counts from the second point.
Tensor parabola_slope(const Tensor& f0, const Tensor& f1, const Tensor& f2, const Tensor& d1,
                      const Tensor& d2, const Tensor& t) {
  const Tensor whole = d1 + d2;
  return (2 * t - d2) / (d1 * whole) * f0 + (d2 - d1 - 2 * t) / (d1 * d2) * f1 +
         (2 * t + d1) / (d2 * whole) * f2;
}

/// The gradient along a dimension whose points have these coordinates.
Tensor slope_along(const Tensor& self, int64_t dim, const Tensor& coordinates, int64_t edge_order) {
  HEARTH_CHECK(coordinates.size(0) == self.size(dim),
               "torch.gradient expected one coordinate for each element along dim ", dim,
               ", but got ", coordinates.size(0), " coordinates for ", self.size(dim), " elements");
  Dims sizes(size_t(self.dim()), 1);
  sizes[size_t(dim)] = -1;
  const ScalarType type = coordinates.scalar_type();
  // Products of distances would overflow narrower integers.
  const Tensor points =
      is_integral(type, /*include_bool=*/false) ? coordinates.to(kLong) : coordinates;
  const Tensor dx = points.diff().reshape(sizes);
  const int64_t n = self.size(dim), m = dx.size(dim);
  const auto row = [&](int64_t i) { return self.narrow(dim, i, 1); };
  const auto width = [&](int64_t i) { return dx.narrow(dim, i, 1); };
  const Tensor d1 = dx.narrow(dim, 0, m - 1), d2 = dx.narrow(dim, 1, m - 1);
  const Tensor inner = parabola_slope(self.narrow(dim, 0, n - 2), self.narrow(dim, 1, n - 2),
                                      self.narrow(dim, 2, n - 2), d1, d2, zeros({}, dx.options()));
  if (edge_order == 1)
    return cat(
        {row(1).sub(row(0)).div(width(0)), inner, row(n - 1).sub(row(n - 2)).div(width(m - 1))},
        dim);
  return cat({parabola_slope(row(0), row(1), row(2), width(0), width(1), -width(0)), inner,
              parabola_slope(row(n - 3), row(n - 2), row(n - 1), width(m - 2), width(m - 1),
                             width(m - 1))},
             dim);
}

/// The gradients along the dimensions; spacing(i) is the distance or the coordinates along the
/// i-th.
template <class Spacing>
std::vector<Tensor> gradients(const Tensor& self, std::optional<size_t> spacings,
                              OptionalIntArrayRef dim, int64_t edge_order, const Spacing& spacing) {
  std::vector<Tensor> results;
  for (const int64_t d : gradient_dims(self, spacings, dim, edge_order))
    results.push_back(slope_along(self, d, spacing(results.size()), edge_order));
  return results;
}

OptionalIntArrayRef one_or_all(const std::optional<int64_t>& dim) {
  return dim ? OptionalIntArrayRef(IntArrayRef(*dim)) : OptionalIntArrayRef();
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& self, const std::optional<Scalar>& spacing,
                             std::optional<int64_t> dim, int64_t edge_order) {
  return gradients(self, {}, one_or_all(dim), edge_order,
                   [&](size_t) { return spacing.value_or(1); });
}
std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return gradients(self, {}, dim, edge_order, [&](size_t) { return spacing; });
}
std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return gradient(self, 1, dim, edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing,
                             std::optional<int64_t> dim, int64_t edge_order) {
  return gradients(self, spacing.size(), one_or_all(dim), edge_order,
                   [&](size_t i) { return spacing[i]; });
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return gradients(self, spacing.size(), dim, edge_order, [&](size_t i) { return spacing[i]; });
}

namespace {

std::vector<Tensor> gradients_at(const Tensor& self, TensorList points, OptionalIntArrayRef dim,
                                 int64_t edge_order) {
  return gradients(self, points.size(), dim, edge_order, [&](size_t i) {
    HEARTH_CHECK(
        points[i].dim() == 1,
        "torch.gradient expected each element of spacing to have one dimension, but got an "
        "element with ",
        points[i].dim(), " dimensions!");
    return points[i];
  });
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, std::optional<int64_t> dim,
                             int64_t edge_order) {
  return gradients_at(self, spacing, one_or_all(dim), edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return gradients_at(self, spacing, dim, edge_order);
}

}  // namespace hearth
