// New tensors of random numbers (bernoulli, normal), and draws from weighted categories.
#include <algorithm>
#include <numeric>

#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/create.h"
#include "ops/promote.h"
#include "ops/zero_derivative.h"

namespace hearth {

namespace {

/// Whether without_replacement() makes the draw: also of a single sample, where replacement makes
/// no difference (as in PyTorch).
bool draws_without_replacement(int64_t samples, bool replacement) {
  return !replacement || samples == 1;
}

void check_weights(const Tensor& self, int64_t samples, bool replacement) {
  HEARTH_CHECK(self.is_floating_point(),
               "multinomial only supports floating-point dtypes for input, got: ",
               name_of(self.scalar_type()));
  HEARTH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  HEARTH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  HEARTH_CHECK(replacement || samples <= self.size(-1),
               "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  if (self.is_meta() || (self.dim() == 2 && self.size(0) == 0)) return;
  const bool has_negative = self.ge(0).logical_not().any().item<bool>();  // also NaN
  const bool has_infinite = self.isinf().any().item<bool>();
  HEARTH_CHECK(!draws_without_replacement(samples, replacement) || !(has_negative || has_infinite),
               "probability tensor contains either `inf`, `nan` or element < 0");
  HEARTH_CHECK(!has_negative,
               "invalid multinomial distribution (encountering probability entry < 0)");
  HEARTH_CHECK(
      !has_infinite,
      "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
  HEARTH_CHECK(self.ne(0).to(kLong).sum(-1).gt(0).all().item<bool>(),
               "invalid multinomial distribution (sum of probabilities <= 0)");
}

/// Calls f(weights of a row, number of weights, where to write its samples, index of the row) for
/// each row, on the host.
template <class T, class F>
Tensor by_rows(const Tensor& weights, ScalarType type, int64_t samples, const F& f) {
  const Tensor host = weights.cpu().to(type).contiguous();
  const int64_t num_weights = host.size(-1),
                rows = host.numel() / std::max<int64_t>(num_weights, 1);
  const Tensor result = empty({rows, samples}, kLong);
  for (int64_t row = 0; row < rows; ++row)
    f(host.data_ptr<T>() + row * num_weights, num_weights,
      result.data_ptr<int64_t>() + row * samples, row);
  return result.to(weights.device(), kLong);
}

/// Looks up uniform numbers in the cumulative distribution of each row.
template <class T>
Tensor with_replacement(const Tensor& weights, ScalarType type, int64_t samples,
                        const Generator& generator) {
  const int64_t rows = weights.dim() == 2 ? weights.size(0) : 1;
  const Tensor uniform =
      empty({rows, samples}, weights.options().dtype(kDouble)).uniform_(0, 1, generator).cpu();
  std::vector<T> cumulative;
  const auto draw = [&](const T* row, int64_t num_weights, int64_t* out, int64_t row_index) {
    cumulative.resize(size_t(num_weights));
    std::partial_sum(row, row + num_weights, cumulative.begin());
    const T total = cumulative.back();
    for (T& value : cumulative) value /= total;
    cumulative.back() = 1;
    const double* numbers = uniform.data_ptr<double>() + row_index * samples;
    for (int64_t i = 0; i < samples; ++i)
      out[i] =
          std::lower_bound(cumulative.begin(), cumulative.end(), numbers[i]) - cumulative.begin();
  };
  return by_rows<T>(weights, type, samples, draw);
}

/// Chooses the largest values of weight / (exponential random number): so each draw takes one of
/// the indices that are left, with a probability in proportion to its weight.
Tensor without_replacement(const Tensor& weights, int64_t samples, const Generator& generator) {
  const Tensor scores = weights.div(empty_like(weights).exponential_(1, generator));
  if (samples == 1) return std::get<1>(scores.max(-1, true));
  std::vector<int64_t> order;
  const auto pick = [&](const double* row, int64_t num_weights, int64_t* out, int64_t) {
    order.resize(size_t(num_weights));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(
        order.begin(), order.begin() + samples, order.end(),
        [row](int64_t a, int64_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    std::copy_n(order.begin(), samples, out);
  };
  return by_rows<double>(scores, kDouble, samples, pick);
}

Tensor multinomial_of(const Tensor& self, int64_t samples, bool replacement,
                      const Generator& generator) {
  check_weights(self, samples, replacement);
  Dims sizes(self.sizes());
  sizes[sizes.size() - 1] = samples;
  if (self.is_meta() || self.numel() == 0) return empty(sizes, self.options().dtype(kLong));
  const NoGradGuard off;
  const Tensor result = draws_without_replacement(samples, replacement)
                            ? without_replacement(self, samples, generator)
                        : self.scalar_type() == kDouble
                            ? with_replacement<double>(self, kDouble, samples, generator)
                            : with_replacement<float>(self, kFloat, samples, generator);
  return result.view(sizes);
}

void check_deviation(const Tensor& std) {
  HEARTH_CHECK(std.is_meta() || std.numel() == 0 || std.min().item().toDouble() >= 0,
               "normal expects all elements of std >= 0.0");
}

/// An uninitialized contiguous tensor. Unlike rand_like, the ops here do not keep strides.
Tensor contiguous_like(const Tensor& tensor) {
  return empty_like(tensor, {}, MemoryFormat::Contiguous);
}

/// As in PyTorch, the tangent is 0.
Tensor bernoulli_of(const Tensor& self, const std::optional<Generator>& generator) {
  const Tensor numbers = contiguous_like(self).bernoulli_(self, generator);
  return autograd::tangent_of(self).defined() ? detail::with_zero_derivative(numbers, self)
                                              : numbers;
}

}  // namespace

HEARTH_DEFINE_COMPOSED_OUT(multinomial,
                           (int64_t num_samples, bool replacement,
                            std::optional<Generator> generator),
                           multinomial_of(self, num_samples, replacement, or_default(generator)))
HEARTH_DEFINE_METHOD(Tensor, bernoulli, (std::optional<Generator> generator),
                     bernoulli_of(self, generator))
HEARTH_DEFINE_METHOD(Tensor, bernoulli, (double p, std::optional<Generator> generator),
                     contiguous_like(self).bernoulli_(p, generator))
HEARTH_DEFINE_METHOD(Tensor, bernoulli, (const Tensor& p, std::optional<Generator> generator),
                     contiguous_like(self).bernoulli_(p, generator))

// As in PyTorch, the gradients of mean and std are 0.
Tensor normal(const Tensor& mean, double std, std::optional<Generator> generator) {
  const Tensor numbers = contiguous_like(mean).normal_(0, std, generator).add_(mean.detach());
  return detail::with_zero_derivative(numbers, mean);
}
Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator) {
  check_deviation(std);
  const Tensor numbers = contiguous_like(std).normal_(0, 1, generator);
  return detail::with_zero_derivative(numbers.mul_(std.detach()).add_(mean), std);
}
Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator) {
  check_deviation(std);
  const Tensor numbers = empty(broadcast_sizes(mean.sizes(), std.sizes()), mean.options());
  numbers.normal_(0, 1, generator).mul_(std.detach()).add_(mean.detach());
  return detail::with_zero_derivative(detail::with_zero_derivative(numbers, mean), std);
}
Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator,
              const TensorOptions& options) {
  return filled(size, options, [&](const Tensor& t) { t.normal_(mean, std, generator); });
}

HEARTH_DEFINE_WRITE_OUT(bernoulli, (const Tensor& self, std::optional<Generator> generator),
                        self.bernoulli(generator))
HEARTH_DEFINE_WRITE_OUT(bernoulli,
                        (const Tensor& self, double p, std::optional<Generator> generator),
                        self.bernoulli(p, generator))
HEARTH_DEFINE_WRITE_OUT(bernoulli,
                        (const Tensor& self, const Tensor& p, std::optional<Generator> generator),
                        self.bernoulli(p, generator))
HEARTH_DEFINE_WRITE_OUT(normal,
                        (const Tensor& mean, double std, std::optional<Generator> generator),
                        normal(mean, std, generator))
HEARTH_DEFINE_WRITE_OUT(normal,
                        (double mean, const Tensor& std, std::optional<Generator> generator),
                        normal(mean, std, generator))
HEARTH_DEFINE_WRITE_OUT(normal,
                        (const Tensor& mean, const Tensor& std, std::optional<Generator> generator),
                        normal(mean, std, generator))
Tensor& normal_out(Tensor& out, double mean, double std, IntArrayRef size,
                   std::optional<Generator> generator) {
  return resized(out, size).normal_(mean, std, generator);
}

}  // namespace hearth
