// Covariances and correlation coefficients.
#include "hearth/operators.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

/// Checks the frequencies or weights of `count` observations.
void check_observations(const char* name, const Tensor& weights, int64_t count) {
  HEARTH_CHECK(weights.dim() <= 1, "cov(): expected ", name,
               " to have one or fewer dimensions but got ", name, " with ", weights.dim(),
               " dimensions");
  const bool is_frequency = name[0] == 'f';  // fweights, not aweights
  const ScalarType type = weights.scalar_type();
  HEARTH_CHECK(is_frequency ? is_integral(type, false) : is_floating_point(type),
               "cov(): expected ", name, " to have ", is_frequency ? "integral" : "floating point",
               " dtype but got ", name, " with ", name_of(type), " dtype");
  HEARTH_CHECK(weights.numel() == count, "cov(): expected ", name,
               " to have the same numel as there are observations in the input but got ",
               weights.numel(), " != ", count);
  HEARTH_CHECK(count == 0 || weights.min().item<double>() >= 0, "cov(): ", name,
               " cannot be negative");
}

/// The product of frequencies and weights, or the one that is given; undefined if neither is.
Tensor observation_weights(const Tensor& fweights, const Tensor& aweights, int64_t count) {
  if (fweights.defined()) check_observations("fweights", fweights, count);
  if (aweights.defined()) check_observations("aweights", aweights, count);
  if (!fweights.defined()) return aweights;
  return aweights.defined() ? fweights * aweights : fweights;
}

/// The divisor of the sum of products.
Tensor degrees_of_freedom(const Tensor& total, const Tensor& weights, const Tensor& aweights,
                          int64_t correction) {
  const Tensor degrees = aweights.defined() && correction != 0
                             ? total - correction * (weights * aweights).sum() / total
                             : total - correction;
  if (degrees.item<double>() > 0) return degrees;
  warn(
      "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
      "observations.");
  return degrees * 0;
}

Tensor covariance(const Tensor& self, int64_t correction, const Tensor& fweights,
                  const Tensor& aweights) {
  HEARTH_CHECK(self.dim() <= 2,
               "cov(): expected input to have two or fewer dimensions but got an input with ",
               self.dim(), " dimensions");
  HEARTH_CHECK(self.scalar_type() != kBool, "cov(): bool dtype is not supported for input");
  const Tensor rows = self.dim() < 2 ? self.reshape({1, -1}) : self;
  const int64_t count = rows.size(1);
  const Tensor weights = observation_weights(fweights, aweights, count);
  const auto weighted = [&](const Tensor& t) { return weights.defined() ? t * weights : t; };
  const Tensor total = weights.defined()
                           ? weights.sum()
                           : full({}, count, TensorOptions(kLong).device(self.device()));
  HEARTH_CHECK(!weights.defined() || total.ne(0).item<bool>(),
               "cov(): weights sum to zero, can't be normalized");
  const Tensor centred = rows - (weighted(rows).sum(1) / total).unsqueeze(1);
  const Tensor products = centred.mm(weighted(centred).t().conj());
  return (products / degrees_of_freedom(total, weights, aweights, correction)).squeeze();
}

/// min(max(x, -1), 1), of each part of complex numbers.
Tensor within_one(const Tensor& x) {
  if (!x.is_complex()) return x.clamp(-1, 1);
  return make_complex(real(x).clamp(-1, 1), imag(x).clamp(-1, 1));
}

Tensor correlation(const Tensor& self) {
  HEARTH_CHECK(self.dim() <= 2,
               "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
               self.dim(), " dimensions");
  const Tensor c = self.cov();
  if (c.dim() == 0) return c / c;
  const Tensor variance = c.diag();
  const Tensor deviation = (c.is_complex() ? real(variance) : variance).sqrt();
  return within_one(c / deviation.view({-1, 1}) / deviation.view({1, -1}));
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, cov,
                     (int64_t correction, const std::optional<Tensor>& fweights,
                      const std::optional<Tensor>& aweights),
                     covariance(self, correction, or_undefined(fweights), or_undefined(aweights)))
HEARTH_DEFINE_METHOD(Tensor, corrcoef, (), correlation(self))

}  // namespace hearth
