// Poisson, binomial, gamma and Dirichlet distributions, drawn on the host: the number of uniform
// numbers that a result needs is not known in advance.
#include <cmath>
#include <limits>
#include <utility>

#include "autograd/tangents.h"
#include "core/generator_impl.h"
#include "core/philox.h"
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/create.h"
#include "ops/promote.h"
#include "ops/zero_derivative.h"

namespace hearth {

namespace {

/// Multiplies uniform numbers until their product falls to e^-rate (Knuth).
double small_poisson(Mt19937& mt, double rate) {
  const double limit = std::exp(-rate);
  double count = -1;
  for (double product = 1; count < 0 || product > limit; ++count) product *= mt.uniform();
  return count;
}

/// Transformed rejection (Hörmann 1993, PTRS), for rates from 10.
double large_poisson(Mt19937& mt, double rate) {
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), tight = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = mt.uniform() - 0.5, v = mt.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= tight) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double height = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
    if (height <= -rate + k * std::log(rate) - std::lgamma(k + 1)) return k;
  }
}

double draw_poisson(Mt19937& mt, double rate) {
  if (rate == 0) return 0;
  return rate < 10 ? small_poisson(mt, rate) : large_poisson(mt, rate);
}

/// Adds geometric numbers of trials, one for each success, until the sum exceeds `count`.
double small_binomial(Mt19937& mt, double count, double p) {
  const double log_failure = std::log1p(-p);
  double successes = 0;
  for (double trials = 0;; ++successes) {
    trials += std::ceil(std::log(mt.uniform()) / log_failure);
    if (trials > count) return successes;
  }
}

/// log(k!) minus Stirling's approximation of it.
double stirling_tail(double k) {
  static constexpr double kSmall[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kSmall[static_cast<size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1. / 12 - (1. / 360 - 1. / 1260 / square) / square) / (k + 1);
}

/// The logarithm of the bound on the height at k, with the mode m and the odds r (Hörmann 1993).
double binomial_bound(double count, double k, double m, double r) {
  return (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) +
         stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
}

/// Transformed rejection (Hörmann 1993, BTRS), for means from 10.
double large_binomial(Mt19937& mt, double count, double p) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5, tight = 0.92 - 4.2 / b, r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * p);
  while (true) {
    const double u = mt.uniform() - 0.5, v = mt.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (k < 0 || k > count) continue;
    if (us >= 0.07 && v <= tight) return k;
    if (std::log(v * alpha / (a / (us * us) + b)) <= binomial_bound(count, k, m, r)) return k;
  }
}

double draw_binomial(Mt19937& mt, double count, double p) {
  if (std::isnan(count)) return count;
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (std::isnan(p)) return p;
  if (p > 0.5) return count - draw_binomial(mt, count, 1 - p);
  return count * p >= 10 ? large_binomial(mt, count, p) : small_binomial(mt, count, p);
}

/// A seed for one call, drawn from the Philox stream of a device's generator.
uint64_t seed_of_draw(const RandomSource& source) {
  return philox_bits<uint32_t>(source.seed, source.offset, 0);
}

/// Returns a tensor like `like` whose element i, in row-major order, is draw(twister, i). The
/// twister is that of the generator (by default, the device's) or, on GPUs, seeded by it.
template <class DrawNumber>
Tensor drawn_like(const Tensor& like, const std::optional<Generator>& generator,
                  const DrawNumber& draw) {
  const Tensor host = empty(like.sizes(), TensorOptions(kDouble));
  const Draw lock(or_default(generator), like.device());
  const RandomSource& source = lock.source();
  Mt19937 of_device;
  Mt19937* const mt = source.mt ? source.mt : &of_device;
  if (mt == &of_device) of_device.reseed(seed_of_draw(source));
  double* const numbers = host.data_ptr<double>();
  for (int64_t i = 0; i < host.numel(); ++i) numbers[i] = draw(*mt, i);
  return host.to(like.device(), like.scalar_type());
}

/// The elements in float64, in row-major order on the host.
Tensor on_host(const Tensor& tensor) { return tensor.detach().cpu().to(kDouble).contiguous(); }

Tensor poisson_of(const Tensor& self, const std::optional<Generator>& generator) {
  HEARTH_CHECK_AS(NotImplementedError, self.is_floating_point(),
                  "\"poisson_cpu\" not implemented for '", name_of(self.scalar_type()), "'");
  if (self.is_meta()) return empty_like(self);
  const Tensor rates = on_host(self);
  HEARTH_CHECK(rates.ge(0).all().item<bool>(),
               "invalid Poisson rate, expected rate to be non-negative");
  const double* const rate = rates.data_ptr<double>();
  return detail::with_zero_derivative(
      drawn_like(self, generator,
                 [&](Mt19937& mt, int64_t i) { return draw_poisson(mt, rate[i]); }),
      self);
}

Tensor binomial_of(const Tensor& count, const Tensor& prob,
                   const std::optional<Generator>& generator) {
  for (const auto& [name, tensor] : {std::pair("count", &count), std::pair("prob", &prob)})
    HEARTH_CHECK_AS(ValueError, tensor->is_floating_point(),
                    "binomial only supports floating-point dtypes for ", name,
                    ", got: ", name_of(tensor->scalar_type()));
  HEARTH_CHECK(count.scalar_type() == prob.scalar_type(), "Found dtype ",
               name_of(prob.scalar_type()), " but expected ", name_of(count.scalar_type()));
  HEARTH_CHECK_AS(NotImplementedError,
                  !autograd::tangent_of(count).defined() && !autograd::tangent_of(prob).defined(),
                  "Trying to use forward AD with aten::binomial that does not support it.");
  const Dims sizes = broadcast_sizes(count.sizes(), prob.sizes());
  const Tensor like = count.detach().expand(sizes);
  if (count.is_meta()) return empty(sizes, like.options());
  const Tensor counts = on_host(like), probabilities = on_host(prob.expand(sizes));
  const double *const n = counts.data_ptr<double>(), *const p = probabilities.data_ptr<double>();
  const Tensor drawn = drawn_like(
      like, generator, [&](Mt19937& mt, int64_t i) { return draw_binomial(mt, n[i], p[i]); });
  return detail::with_zero_derivative(detail::with_zero_derivative(drawn, count), prob);
}

/// Rejection from a transformed normal number (Marsaglia and Tsang 2000); for concentrations below
/// 1, a sample for concentration + 1 is scaled.
double draw_gamma(Mt19937& mt, double concentration) {
  double scale = 1;
  if (concentration < 1) {
    if (concentration == 0) return 0;
    scale = std::pow(1 - mt.uniform(), 1 / concentration);
    concentration += 1;
  }
  // As in PyTorch, the third and 0.0331 have float32's precision.
  const double d = concentration - double(1.0f / 3), c = 1 / std::sqrt(9 * d);
  while (true) {
    double x, root;
    do {
      x = mt.normal();
      root = 1 + c * x;
    } while (root <= 0);
    const double v = root * root * root, u = 1 - mt.uniform(), square = x * x;
    if (u < 1 - double(0.0331f) * square * square) return scale * d * v;
    if (std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

/// Gamma samples with the concentrations self, in float64; `kernel` is for errors.
Tensor gammas_of(const Tensor& self, const std::optional<Generator>& generator, const char* op,
                 const char* kernel) {
  check_defined(op, 0, "self", self);
  const ScalarType type = self.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, type == kFloat || type == kDouble, "\"", kernel,
                  "\" not implemented for '", name_of(type), "'");
  HEARTH_CHECK_AS(NotImplementedError, !autograd::wants_derivative(self), "the derivative for '",
                  op, "' is not implemented");
  if (self.is_meta()) return empty_like(self);
  const Tensor concentrations = on_host(self);
  const double* const a = concentrations.data_ptr<double>();
  const Tensor like = empty(self.sizes(), self.options().dtype(kDouble).requires_grad(false));
  return drawn_like(like, generator, [&](Mt19937& mt, int64_t i) { return draw_gamma(mt, a[i]); });
}

/// The smallest positive normal number of a dtype.
double tiny_number(ScalarType type) {
  return type == kDouble ? std::numeric_limits<double>::min()
                         : double(std::numeric_limits<float>::min());
}

}  // namespace

Tensor _standard_gamma(const Tensor& self, std::optional<Generator> generator) {
  const Tensor samples = gammas_of(self, generator, "_standard_gamma", "gamma_cpu");
  const ScalarType type = self.scalar_type();
  return samples.to(type).clamp_min(tiny_number(type));
}
Tensor _sample_dirichlet(const Tensor& self, std::optional<Generator> generator) {
  const Tensor samples = gammas_of(self, generator, "_sample_dirichlet", "dirichlet");
  const ScalarType type = self.scalar_type();
  const double below_one = 1 - (type == kDouble ? 0x1p-53 : 0x1p-24);
  return samples.div(samples.sum(-1, true)).to(type).clamp(tiny_number(type), below_one);
}

Tensor poisson(const Tensor& self, std::optional<Generator> generator) {
  check_defined("poisson", 0, "self", self);
  return poisson_of(self, generator);
}
Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  check_defined("binomial", 0, "count", count);
  check_defined("binomial", 1, "prob", prob);
  return binomial_of(count, prob, generator);
}
HEARTH_DEFINE_WRITE_OUT(poisson, (const Tensor& self, std::optional<Generator> generator),
                        poisson(self, generator))
HEARTH_DEFINE_WRITE_OUT(binomial,
                        (const Tensor& count, const Tensor& prob,
                         std::optional<Generator> generator),
                        binomial(count, prob, generator))

}  // namespace hearth
