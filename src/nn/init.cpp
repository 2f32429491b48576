#include "hearth/nn/init.h"

#include <algorithm>
#include <cmath>

#include "hearth/autograd.h"
#include "hearth/indexing.h"
#include "nn/orthonormal.h"

namespace hearth::nn::init {

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity))
    return std::sqrt(2.0 / (1 + param * param));
  return 1;
}

Tensor constant_(Tensor tensor, const Scalar& value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}

Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }

Tensor eye_(Tensor matrix) {
  HEARTH_CHECK(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  const NoGradGuard no_grad;
  return matrix.copy_(eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor dirac_(Tensor tensor) {
  HEARTH_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5,
               "Only tensors with 3, 4, or 5 dimensions are supported");
  const NoGradGuard no_grad;
  tensor.zero_();
  const int64_t channels = std::min(tensor.size(0), tensor.size(1));
  for (int64_t c = 0; c < channels; ++c) {
    Tensor centre = tensor.select(0, c).select(0, c);
    while (centre.dim() > 0) centre = centre.select(0, centre.size(0) / 2);
    centre.fill_(1);
  }
  return tensor;
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

namespace {

double normal_cdf(double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; }

/// log(density(x) / density(mean)) for the normal distribution.
Tensor log_density(const Tensor& x, double mean, double std) {
  return x.sub(mean).div_(std).pow_(2).mul_(-0.5);
}

/// Draws until every value is accepted. draw() returns values; rejected() returns a mask of the
/// values to draw again. (Numbers are drawn for all elements each time, as in PyTorch.)
template <class Draw, class Rejected>
void draw_until_accepted(const Tensor& tensor, Draw draw, Rejected rejected) {
  Tensor values = draw(), pending = rejected(values);
  while (pending.any().item<bool>()) {
    const Tensor redrawn = draw();
    values = where(pending, redrawn, values);
    pending = pending.logical_and(rejected(redrawn));
  }
  tensor.copy_(values);
}

}  // namespace

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  if (mean < a - 2 * std || mean > b + 2 * std)
    warn(
        "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values "
        "may be incorrect.");
  HEARTH_CHECK(std > 0, "trunc_normal_: expected a positive std, but got ", std);
  const NoGradGuard no_grad;
  if (tensor.is_meta()) return tensor;
  constexpr double kMinAcceptance = 0.3;  // below it, uniform candidates need fewer draws
  const double acceptance = normal_cdf((b - mean) / std) - normal_cdf((a - mean) / std);
  if (acceptance > kMinAcceptance) {
    const auto rounded = [&](double x) {  // to the tensor's dtype
      return full({}, x, tensor.options().device(kCPU)).item();
    };
    const Scalar low = rounded(a), high = rounded(b);
    draw_until_accepted(
        tensor, [&] { return empty_like(tensor).normal_(mean, std); },
        [&](const Tensor& x) { return x.lt(low).logical_or_(x.gt(high)); });
    return tensor;
  }
  // Uniform candidates, accepted with a probability proportional to their density.
  const double mode = std::clamp(mean, a, b), log_peak = -0.5 * std::pow((mode - mean) / std, 2);
  draw_until_accepted(
      tensor, [&] { return empty_like(tensor).uniform_(a, b); },
      [&](const Tensor& x) {
        const Tensor log_uniform = empty_like(x).uniform_().log_();
        return log_uniform.gt(log_density(x, mean, std).sub_(log_peak));
      });
  return tensor;
}

Tensor orthogonal_(Tensor tensor, double gain) {
  HEARTH_CHECK(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
  const NoGradGuard no_grad;
  const int64_t rows = tensor.size(0);
  const int64_t columns = rows == 0 ? 0 : tensor.numel() / rows;
  const Tensor drawn = randn({rows, columns}, TensorOptions(tensor.scalar_type()));
  const bool is_wide = rows < columns;
  Tensor q = nn::detail::orthonormal_columns(is_wide ? drawn.t() : drawn);
  if (is_wide) q = q.t();
  return tensor.copy_(q.reshape(tensor.sizes())).mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  HEARTH_CHECK(tensor.dim() == 2, "Only tensors with 2 dimensions are supported");
  const NoGradGuard no_grad;
  const int64_t rows = tensor.size(0), columns = tensor.size(1);
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < columns; ++column) {
    const Tensor chosen = randperm(rows).slice(0, 0, zeros).to(tensor.device());
    tensor.select(1, column).index_fill_(0, chosen, 0);
  }
  return tensor;
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  HEARTH_CHECK(tensor.dim() >= 2,
               "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  int64_t receptive_field = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) receptive_field *= tensor.size(d);
  return {tensor.size(1) * receptive_field, tensor.size(0) * receptive_field};
}

namespace {

double kaiming_std(const Tensor& tensor, double a, const FanModeType& mode,
                   NonlinearityType nonlinearity) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const int64_t fan = std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}

/// Whether the tensor has no elements; warns if so.
bool warn_if_empty(const Tensor& tensor) {
  if (tensor.numel() == 0) warn("Initializing zero-element tensors is a no-op");
  return tensor.numel() == 0;
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

/// Fills from the uniform distribution with mean 0 and this standard deviation.
Tensor uniform_with_std(Tensor tensor, double std) {
  const double bound = std::sqrt(3.0) * std;
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace

#define HEARTH_DEFINE_KAIMING(name)                                        \
  Tensor name(Tensor tensor, double a) { return name(tensor, a, kFanIn); } \
  Tensor name(Tensor tensor, double a, FanModeType mode) {                 \
    return name(tensor, a, mode, kLeakyReLU);                              \
  }
HEARTH_DEFINE_KAIMING(kaiming_normal_)
HEARTH_DEFINE_KAIMING(kaiming_uniform_)
#undef HEARTH_DEFINE_KAIMING

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (warn_if_empty(tensor)) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (warn_if_empty(tensor)) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_with_std(std::move(tensor), std);
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return uniform_with_std(std::move(tensor), std);
}

}  // namespace hearth::nn::init
