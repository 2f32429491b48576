// quantile and nanquantile.
#include "hearth/operators.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

/// How a quantile between two elements is computed.
enum class Between : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };

Between interpolation_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  for (int i = 0; i < 5; ++i)
    if (name == kNames[i]) return static_cast<Between>(i);
  detail::fail<Error>(
      "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
      "got ",
      name);
}

void check_quantile(const Tensor& self, const Tensor& q) {
  HEARTH_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  HEARTH_CHECK(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor");
  HEARTH_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble,
               "quantile() input tensor must be either float or double dtype");
  HEARTH_CHECK(self.scalar_type() == q.scalar_type(),
               "quantile() q tensor must be same dtype as the input tensor");
  HEARTH_CHECK(self.device() == q.device(),
               "quantile() q tensor must be on the same device as the input tensor");
  HEARTH_CHECK(!q.is_cpu() || q.ge(0).logical_and(q.le(1)).all().item<bool>(),
               "quantile() q values must be in the range [0, 1]");
}

/// The positions of the quantiles q in the sorted rows, whose NaN come last; in float64, as in
/// PyTorch.
Tensor ranks_in(const Tensor& sorted, const Tensor& q, Between between, bool ignores_nan) {
  const Tensor is_nan = sorted.isnan();
  const int64_t last = sorted.size(-1) - 1;
  const Tensor exact = q.to(kDouble);
  const Tensor ranks = ignores_nan
                           ? (exact * (is_nan.logical_not().sum(-1, true) - 1)).clamp_min(0)
                           : where(is_nan.any(-1, true), Scalar(double(last)), exact * last);
  switch (between) {
    case Between::kLower: return ranks.floor();
    case Between::kHigher: return ranks.ceil();
    case Between::kNearest: return ranks.round();
    default: return ranks;
  }
}

/// The quantiles of each row; they become the last dimension.
Tensor quantiles_of_rows(const Tensor& rows, const Tensor& q, Between between, bool ignores_nan) {
  const Tensor sorted = std::get<0>(rows.sort());
  const Tensor ranks = ranks_in(sorted, q, between, ignores_nan);
  const Tensor below = ranks.floor().to(kLong);
  const Tensor values = sorted.gather(-1, below);
  if (between != Between::kLinear && between != Between::kMidpoint) return values;
  const Tensor weights = (between == Between::kMidpoint ? full_like(ranks, 0.5) : ranks - below)
                             .to(rows.scalar_type());
  return values.lerp(sorted.gather(-1, ranks.ceil().to(kLong)), weights);
}

/// The arguments of quantile and nanquantile; q is absent if it is a tensor.
struct QuantileArgs {
  std::optional<double> q;
  std::optional<int64_t> dim;
  bool keepdim;
  Between between;
  HEARTH_FIELDS(q, dim, keepdim, between)
};

Tensor quantiles(const QuantileArgs& args, const Tensor& self, const Tensor& q, bool ignores_nan) {
  check_quantile(self, q);
  const int64_t position = wrap_dim(args.dim.value_or(0), self.dim());
  const bool flattens = !args.dim || self.dim() == 0;
  const Tensor rows = flattens ? self.reshape({-1}) : self.movedim(position, -1);
  const Tensor found = quantiles_of_rows(rows, q.reshape({-1}), args.between, ignores_nan);
  const Tensor result = q.dim() == 0 ? found.squeeze(-1) : found.movedim(-1, 0);
  if (!args.keepdim) return result;
  if (!flattens) return result.unsqueeze(position + q.dim());
  Dims sizes(q.sizes());
  for (int64_t d = 0; d < self.dim(); ++d) sizes.push_back(1);
  return result.reshape(sizes);
}

template <bool ignores_nan>
struct Quantile {
  using Args = QuantileArgs;
  static constexpr OpInfo info{.name = ignores_nan ? "nanquantile" : "quantile",
                               .arguments = "self,q",
                               .amp_cpu = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& q) {
    return quantiles(args, self, q, ignores_nan);
  }
};

/// The overload with a number as q.
template <bool ignores_nan>
struct QuantileOfNumber {
  using Args = QuantileArgs;
  static constexpr OpInfo info{
      .name = Quantile<ignores_nan>::info.name, .overload = "scalar", .amp_cpu = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self) {
    const TensorOptions options = self.options().requires_grad(false);
    return quantiles(args, self, full({}, *args.q, options), ignores_nan);
  }
};

template <bool ignores_nan>
Tensor quantile_of(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  check_defined(Quantile<ignores_nan>::info.name, 1, "q", q);
  return compose<Quantile<ignores_nan>>({{}, dim, keepdim, interpolation_named(interpolation)},
                                        self, q);
}

template <bool ignores_nan>
Tensor quantile_of(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  HEARTH_CHECK(q >= 0 && q <= 1, "quantile() q must be in the range [0, 1] but got ", q);
  return compose<QuantileOfNumber<ignores_nan>>(
      {q, dim, keepdim, interpolation_named(interpolation)}, self);
}

}  // namespace

#define HEARTH_DEFINE_QUANTILE(name, Q, ignores_nan)                                         \
  HEARTH_DEFINE_COMPOSED_OUT(                                                                \
      name, (Q q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation), \
      quantile_of<ignores_nan>(self, q, dim, keepdim, interpolation))
HEARTH_DEFINE_QUANTILE(quantile, const Tensor&, false)
HEARTH_DEFINE_QUANTILE(quantile, double, false)
HEARTH_DEFINE_QUANTILE(nanquantile, const Tensor&, true)
HEARTH_DEFINE_QUANTILE(nanquantile, double, true)
#undef HEARTH_DEFINE_QUANTILE

}  // namespace hearth
