// Cauchy, log-normal and geometric distributions. As in PyTorch, each element is computed from one
// uniform or normal number in float64.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/composed_out.h"
#include "ops/create.h"

namespace hearth {

namespace {

/// Overwrites self with formula(float64 numbers that draw(tensor) wrote), in self's memory order.
template <class DrawNumbers, class Formula>
Tensor& overwrite(const Tensor& self, const DrawNumbers& draw, const Formula& formula) {
  const TensorOptions options = self.options().dtype(kDouble).requires_grad(false);
  const Tensor numbers = empty_like(self, options);
  fill_without_history(numbers, draw);
  return self.copy_(formula(numbers));
}

/// The numbers, replaced by f of each if they are on the CPU: the C library's functions and a fused
/// multiply-add give PyTorch's results bit for bit. Else formula(numbers).
template <class F, class Formula>
Tensor transformed_on_host(const Tensor& numbers, const F& f, const Formula& formula) {
  if (!numbers.is_cpu()) return formula(numbers);
  double* const data = numbers.data_ptr<double>();
  std::transform(data, data + numbers.numel(), data, f);
  return numbers;
}

Tensor& fill_cauchy(const Tensor& self, double median, double sigma,
                    const std::optional<Generator>& generator) {
  HEARTH_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  HEARTH_CHECK(self.is_floating_point(),
               "Cauchy distribution is a continuous probability distribution. dtype must be a "
               "floating point but you specified ",
               self.dtype().name());
  return overwrite(
      self, [&](const Tensor& t) { t.uniform_(0, 1, generator); },
      [&](const Tensor& numbers) {
        return transformed_on_host(
            numbers,
            [&](double u) {
              return std::fma(sigma, std::tan(std::numbers::pi * (u - 0.5)), median);
            },
            [&](const Tensor& u) {
              return u.sub(0.5).mul(std::numbers::pi).tan().mul(sigma).add(median);
            });
      });
}

Tensor& fill_log_normal(const Tensor& self, double mean, double std,
                        const std::optional<Generator>& generator) {
  HEARTH_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  HEARTH_CHECK_AS(NotImplementedError, self.is_floating_point(),
                  "\"log_normal_cpu\" not implemented for '", name_of(self.scalar_type()), "'");
  // PyTorch's log_normal_ draws number by number. normal_ does so only for fewer than 16 elements
  // and for tensors that are not contiguous; it fills other tensors in blocks.
  const auto draw = [&](const Tensor& t) {
    const Tensor with_gaps = empty({t.numel(), 2}, t.options()).select(1, 0);
    with_gaps.normal_(mean, std, generator);
    t.as_strided({t.numel()}, {1}).copy_(with_gaps);
  };
  return overwrite(self, draw, [](const Tensor& numbers) {
    return transformed_on_host(
        numbers, [](double x) { return std::exp(x); }, [](const Tensor& x) { return x.exp(); });
  });
}

Tensor& fill_geometric(const Tensor& self, double p, const std::optional<Generator>& generator) {
  HEARTH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  HEARTH_CHECK_AS(NotImplementedError, self.scalar_type() != kBool && !self.is_complex(),
                  "\"geometric_cpu\" not implemented for '", name_of(self.scalar_type()), "'");
  return overwrite(
      self, [&](const Tensor& t) { t.uniform_(0, 1, generator); },
      [&](const Tensor& u) { return u.log().div(std::log1p(-p)).ceil(); });
}

}  // namespace

HEARTH_DEFINE_METHOD_ONLY(Tensor&, cauchy_,
                          (double median, double sigma, std::optional<Generator> generator),
                          fill_cauchy(self, median, sigma, generator))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, log_normal_,
                          (double mean, double std, std::optional<Generator> generator),
                          fill_log_normal(self, mean, std, generator))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, geometric_, (double p, std::optional<Generator> generator),
                          fill_geometric(self, p, generator))

namespace {

/// An uninitialised tensor like self, to be filled.
Tensor target_like(const char* op, const Tensor& self) {
  check_defined(op, 0, "self", self);
  return empty_like(self.detach());
}

}  // namespace

Tensor uniform(const Tensor& self, double from, double to, std::optional<Generator> generator) {
  return target_like("uniform", self).uniform_(from, to, generator);
}
Tensor exponential(const Tensor& self, double lambd, std::optional<Generator> generator) {
  return target_like("exponential", self).exponential_(lambd, generator);
}
Tensor cauchy(const Tensor& self, double median, double sigma, std::optional<Generator> generator) {
  return target_like("cauchy", self).cauchy_(median, sigma, generator);
}
Tensor log_normal(const Tensor& self, double mean, double std, std::optional<Generator> generator) {
  return target_like("log_normal", self).log_normal_(mean, std, generator);
}
Tensor geometric(const Tensor& self, double p, std::optional<Generator> generator) {
  return target_like("geometric", self).geometric_(p, generator);
}

}  // namespace hearth
