// Activations composed of several ops: rrelu, rrelu_with_noise and log_sigmoid_forward.
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// The limits of rrelu's random slopes; without training, the slope is their mean.
struct Slopes {
  double lower, upper;
  bool training;

  Slopes(const Scalar& low, const Scalar& high, bool train)
      : lower(low.toDouble()), upper(high.toDouble()), training(train) {}
  void check() const {
    HEARTH_CHECK(lower <= upper, "Lower bound should be less than or equal to the upper bound");
  }
  double mean() const { return (lower + upper) / 2; }

  static double rounded(double limit, ScalarType dtype) {
    return dtype == kDouble ? limit : static_cast<float>(limit);
  }

  /// Returns the slope of each element: random where self <= 0, else 1. As in PyTorch, the CPU
  /// draws numbers only for elements <= 0, in row-major order; other devices draw one for every
  /// element.
  Tensor draw(const Tensor& self, const Generator& generator) const {
    const NoGradGuard off;
    HEARTH_CHECK_AS(NotImplementedError, is_floating_point(self.scalar_type()),
                    "\"rrelu_with_noise_out_cpu\" not implemented for '",
                    name_of(self.scalar_type()), "'");
    const Tensor not_positive = self.le(0);
    const ScalarType wide = wide_type(self.scalar_type());
    const Tensor one = ones({}, self.options().dtype(wide));
    if (self.device() != kCPU)
      return where(not_positive, empty_like(self, wide).uniform_(lower, upper, generator), one);
    const Tensor drawn = empty({not_positive.sum().item<int64_t>()}, kDouble);
    // The product and the sum are rounded separately.
    const double low = rounded(lower, wide), span = rounded(upper, wide) - low;
    drawn.uniform_(0, 1, generator).mul_(span).add_(low);
    return one.masked_scatter(not_positive, drawn.to(wide));
  }
};

/// Returns self * slopes, computed in the slopes' dtype and rounded to self's.
Tensor sloped(const Tensor& self, const Tensor& slopes) {
  return self.to(slopes.scalar_type()).mul(slopes).to(self.scalar_type());
}

/// Returns rrelu of self; in training, writes the slopes to `noise`.
Tensor with_noise(const Tensor& self, Tensor& noise, const Slopes& slopes,
                  const Generator& generator) {
  HEARTH_CHECK(self.sizes() == noise.sizes(),
               "noise tensor shape must match self tensor shape. Got self.shape = ", self.sizes(),
               " noise.shape = ", noise.sizes());
  if (!slopes.training) return self.leaky_relu(slopes.mean());  // even if lower > upper
  slopes.check();
  const Tensor drawn = slopes.draw(self, generator);
  noise.copy_(drawn);
  return sloped(self, drawn);
}

}  // namespace

#define HEARTH_RRELU_PARAMETERS \
  const Scalar &lower, const Scalar &upper, bool training, std::optional<Generator> generator

Tensor rrelu(const Tensor& self, HEARTH_RRELU_PARAMETERS) {
  check_defined("rrelu", 0, "self", self);
  const Slopes slopes(lower, upper, training);
  slopes.check();
  return training ? sloped(self, slopes.draw(self, or_default(generator)))
                  : self.leaky_relu(slopes.mean());
}

Tensor& rrelu_(Tensor& self, HEARTH_RRELU_PARAMETERS) {
  check_defined("rrelu_", 0, "self", self);
  if (training)
    return write_inplace(self, [&] { return rrelu(self, lower, upper, true, generator); });
  const Slopes slopes(lower, upper, training);
  slopes.check();
  return self.leaky_relu_(slopes.mean());
}

Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, HEARTH_RRELU_PARAMETERS) {
  check_defined("rrelu_with_noise", 0, "self", self);
  check_defined("rrelu_with_noise", 1, "noise", noise);
  return with_noise(self, noise, Slopes(lower, upper, training), or_default(generator));
}

Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, HEARTH_RRELU_PARAMETERS) {
  return write_inplace(
      self, [&] { return rrelu_with_noise(self, noise, lower, upper, training, generator); });
}

Tensor& rrelu_with_noise_out(Tensor& out, const Tensor& self, Tensor& noise,
                             HEARTH_RRELU_PARAMETERS) {
  return write_out("rrelu_with_noise", out, [&] {
    return rrelu_with_noise(self, noise, lower, upper, training, generator);
  });
}
#undef HEARTH_RRELU_PARAMETERS

TensorPair log_sigmoid_forward(const Tensor& self) {
  check_defined("log_sigmoid_forward", 0, "self", self);
  const Tensor output = self.log_sigmoid();
  const NoGradGuard off;
  return {output, self.abs().neg().exp()};
}

TensorRefPair log_sigmoid_forward_out(Tensor& output, Tensor& buffer, const Tensor& self) {
  check_defined("log_sigmoid_forward", 0, "self", self);
  const NoAutocast no_autocast;
  const auto [result, exponential] = log_sigmoid_forward(self);
  write_out("log_sigmoid_forward", output, [&, value = result] { return value; });
  write_out("log_sigmoid_forward", buffer, [&, value = exponential] { return value; });
  return {output, buffer};
}

}  // namespace hearth
