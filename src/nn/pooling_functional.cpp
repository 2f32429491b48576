#include <cmath>

#include "hearth/nn/pooling.h"
#include "hearth/operators.h"
#include "nn/spaced.h"

namespace hearth::nn {

namespace {

/// Returns the requested sizes; std::nullopt stands for the input's size.
template <size_t D>
std::vector<int64_t> with_defaults(const ExpandingArrayWithOptionalElem<D>& requested,
                                   const Tensor& input) {
  HEARTH_CHECK(input.dim() > int64_t(D), "Input dimension should be at least ", D + 1);
  std::vector<int64_t> sizes = input.sizes().slice(size_t(input.dim()) - D).vec();
  for (size_t d = 0; d < D; ++d) sizes[d] = (*requested)[d].value_or(sizes[d]);
  return sizes;
}
IntArrayRef with_defaults(const ExpandingArray<1>& requested, const Tensor&) { return requested; }

/// (sum of x^p over each window)^(1/p), from the mean of x^p. As in PyTorch, a window that
/// ceil_mode cuts off counts as a full one with the same mean.
template <size_t D>
Tensor norms(const Tensor& means, const LPPoolOptions<D>& options) {
  double count = 1;
  for (const int64_t size : *options.kernel_size()) count *= double(size);
  // The root's derivative is infinite at 0; relu's backward replaces what arrives there by 0.
  return (sign(means).detach() * relu(abs(means))).mul(count).pow(1 / options.norm_type());
}

/// Returns the result's size: the input size of the pooling that unpooling inverts.
template <size_t D>
std::vector<int64_t> unpooled_size(const Tensor& input,
                                   const functional::MaxUnpoolFuncOptions<D>& o) {
  return functional::_unpool_output_size(input, o.kernel_size(), o.stride(), o.padding(),
                                         o.output_size());
}

/// Returns the number of windows of fractional pooling in each dimension.
template <size_t D>
std::vector<int64_t> window_counts(const Tensor& input,
                                   const FractionalMaxPoolOptions<D>& options) {
  HEARTH_CHECK(options.output_size() || options.output_ratio(), "fractional_max_pool", D,
               "d requires specifying either an output_size or an output_ratio");
  if (options.output_size()) return IntArrayRef(*options.output_size()).vec();
  std::vector<int64_t> counts;
  for (size_t d = 0; d < D; ++d)
    counts.push_back(
        int64_t(double(input.size(int64_t(d) - int64_t(D))) * (**options.output_ratio())[d]));
  return counts;
}

/// Returns the random samples of the options, or draws them.
template <size_t D>
Tensor samples_for(const Tensor& input, const FractionalMaxPoolOptions<D>& options) {
  if (options._random_samples().defined()) return options._random_samples();
  const int64_t batch = input.dim() == int64_t(D) + 1 ? 1 : input.size(0);
  return rand({batch, input.size(-int64_t(D) - 1), int64_t(D)}, input.options());
}

}  // namespace

namespace functional {

std::vector<int64_t> _unpool_output_size(const Tensor& input, const IntArrayRef& kernel_size,
                                         const IntArrayRef& stride, const IntArrayRef& padding,
                                         const std::optional<std::vector<int64_t>>& output_size) {
  const size_t dims = kernel_size.size();
  HEARTH_CHECK(input.dim() >= int64_t(dims), "Expected at least ", dims, " dimensions, but got ",
               input.sizes());
  HEARTH_CHECK(stride.size() == dims && padding.size() == dims, "Expected ", dims,
               " numbers in stride and padding, but got ", stride, " and ", padding);
  std::vector<int64_t> default_size;
  for (size_t d = 0; d < dims; ++d)
    default_size.push_back((input.size(int64_t(d) - int64_t(dims)) - 1) * stride[d] +
                           kernel_size[d] - 2 * padding[d]);
  if (!output_size) return default_size;
  std::vector<int64_t> wanted = *output_size;
  if (wanted.size() == dims + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  HEARTH_CHECK(wanted.size() == dims, "output_size should be a sequence containing ", dims, " or ",
               dims + 2, " elements, but it has a length of '", wanted.size(), "'");
  for (size_t d = 0; d < dims; ++d) {
    const int64_t min_size = default_size[d] - stride[d], max_size = default_size[d] + stride[d];
    HEARTH_CHECK(min_size <= wanted[d] && wanted[d] <= max_size, "invalid output_size ",
                 spaced(wanted), " (dim ", d, " must be between ", min_size, " and ", max_size,
                 ")");
  }
  return wanted;
}

#define HEARTH_POOLS(n)                                                                            \
  Tensor max_pool##n##d(const Tensor& input, const MaxPool##n##dFuncOptions& o) {                  \
    return hearth::max_pool##n##d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),   \
                                  o.ceil_mode());                                                  \
  }                                                                                                \
  TensorPair max_pool##n##d_with_indices(const Tensor& input, const MaxPool##n##dFuncOptions& o) { \
    return hearth::max_pool##n##d_with_indices(input, o.kernel_size(), o.stride(), o.padding(),    \
                                               o.dilation(), o.ceil_mode());                       \
  }                                                                                                \
  TensorPair adaptive_max_pool##n##d_with_indices(const Tensor& input,                             \
                                                  const AdaptiveMaxPool##n##dFuncOptions& o) {     \
    return hearth::adaptive_max_pool##n##d(input, with_defaults(o.output_size(), input));          \
  }                                                                                                \
  Tensor adaptive_max_pool##n##d(const Tensor& input, const AdaptiveMaxPool##n##dFuncOptions& o) { \
    return std::get<0>(adaptive_max_pool##n##d_with_indices(input, o));                            \
  }                                                                                                \
  Tensor adaptive_avg_pool##n##d(const Tensor& input, const AdaptiveAvgPool##n##dFuncOptions& o) { \
    return hearth::adaptive_avg_pool##n##d(input, with_defaults(o.output_size(), input));          \
  }                                                                                                \
  Tensor lp_pool##n##d(const Tensor& input, const LPPool##n##dFuncOptions& o) {                    \
    if (std::isinf(o.norm_type())) {                                                               \
      const double sign = o.norm_type() > 0 ? 1 : -1; /* the largest or smallest magnitude */      \
      return sign * hearth::max_pool##n##d(sign * input.abs(), o.kernel_size(), o.stride(), 0, 1,  \
                                           o.ceil_mode());                                         \
    }                                                                                              \
    return norms(hearth::avg_pool##n##d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0,  \
                                        o.ceil_mode()),                                            \
                 o);                                                                               \
  }
HEARTH_POOLS(1)
HEARTH_POOLS(2)
HEARTH_POOLS(3)
#undef HEARTH_POOLS

#define HEARTH_AVG_POOL(n)                                                                        \
  Tensor avg_pool##n##d(const Tensor& input, const AvgPool##n##dFuncOptions& o) {                 \
    return hearth::avg_pool##n##d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), \
                                  o.count_include_pad(), o.divisor_override());                   \
  }
HEARTH_AVG_POOL(2)
HEARTH_AVG_POOL(3)
#undef HEARTH_AVG_POOL
Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& o) {
  return hearth::avg_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                            o.count_include_pad());
}

#define HEARTH_FRACTIONAL_POOL(n)                                                                  \
  TensorPair fractional_max_pool##n##d_with_indices(const Tensor& input,                           \
                                                    const FractionalMaxPool##n##dFuncOptions& o) { \
    return hearth::fractional_max_pool##n##d(input, o.kernel_size(), window_counts(input, o),      \
                                             samples_for(input, o));                               \
  }                                                                                                \
  Tensor fractional_max_pool##n##d(const Tensor& input,                                            \
                                   const FractionalMaxPool##n##dFuncOptions& o) {                  \
    return std::get<0>(fractional_max_pool##n##d_with_indices(input, o));                          \
  }
HEARTH_FRACTIONAL_POOL(2)
HEARTH_FRACTIONAL_POOL(3)
#undef HEARTH_FRACTIONAL_POOL

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& o) {
  std::vector<int64_t> size = unpooled_size(input, o);
  size.push_back(1);
  return hearth::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& o) {
  return hearth::max_unpool2d(input, indices, unpooled_size(input, o));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& o) {
  return hearth::max_unpool3d(input, indices, unpooled_size(input, o), o.stride(), o.padding());
}

}  // namespace functional

}  // namespace hearth::nn
