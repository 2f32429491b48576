// The composed kinds of dropout; dropout itself is in random.cpp.
#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// What an input becomes: factor * input + shift.
struct Noise {
  Tensor factor, shift;
};

/// 1 with probability 1 - p, else 0, for each element or for each channel of each sample.
Tensor kept(const Tensor& input, double p, bool features) {
  const NoGradGuard off;
  if (!features) return empty_like(input).bernoulli_(1 - p);
  HEARTH_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  Dims sizes(size_t(input.dim()), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return empty(sizes, input.options()).bernoulli_(1 - p);
}

bool changes(const Tensor& input, double p, bool train) {
  HEARTH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  return train && p > 0 && input.numel() > 0;
}

Noise noise_for(const Tensor& input, double p, bool features, bool alpha) {
  if (p == 1) return {zeros({}, input.options()), {}};
  const Tensor mask = kept(input, p, features);
  if (!alpha) return {mask.div(1 - p), {}};
  constexpr double kLimit = 1.7580993408473766;  // selu's lower limit is -kLimit
  const double scale = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  return {mask * scale, (mask - 1) * (kLimit * scale) + kLimit * scale * p};
}

Tensor dropped(const Tensor& input, double p, bool train, bool features, bool alpha) {
  if (!changes(input, p, train)) return input;
  const Noise noise = noise_for(input, p, features, alpha);
  const Tensor scaled = input * noise.factor;
  return noise.shift.defined() ? scaled + noise.shift : scaled;
}

Tensor& drop(Tensor& self, double p, bool train, bool features, bool alpha) {
  if (!changes(self, p, train)) return self;
  const Noise noise = noise_for(self, p, features, alpha);
  self.mul_(noise.factor);
  return noise.shift.defined() ? self.add_(noise.shift) : self;
}

}  // namespace

#define HEARTH_DEFINE_DROPOUT(name, features, alpha)              \
  Tensor name(const Tensor& input, double p, bool train) {        \
    return dropped(input, p, train, features, alpha);             \
  }                                                               \
  Tensor& name##_(Tensor& self, double p, bool train) {           \
    return drop(self, p, train, features, alpha);                 \
  }                                                               \
  Tensor& Tensor::name##_(double p, bool train) const {           \
    return hearth::name##_(const_cast<Tensor&>(*this), p, train); \
  }
HEARTH_DEFINE_DROPOUT(feature_dropout, true, false)
HEARTH_DEFINE_DROPOUT(alpha_dropout, false, true)
HEARTH_DEFINE_DROPOUT(feature_alpha_dropout, true, true)
#undef HEARTH_DEFINE_DROPOUT

}  // namespace hearth
