#include "hearth/nn/pooling.h"

#include <ostream>

#include "hearth/nn/run_module.h"

namespace hearth::nn {

using hearth::detail::str;
namespace F = functional;

// ---- printing

template <size_t D, class Derived>
void MaxPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  stream << str("MaxPool", D, "d(kernel_size=", o.kernel_size(), ", stride=", o.stride(),
                ", padding=", o.padding(), ", dilation=", o.dilation(),
                ", ceil_mode=", o.ceil_mode(), ")");
}

template <size_t D, class Derived>
void AvgPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  stream << str("AvgPool", D, "d(kernel_size=", o.kernel_size(), ", stride=", o.stride(),
                ", padding=", o.padding(), ")");
}

template <size_t D, class OutputSize, class Derived>
void AdaptiveMaxPoolImpl<D, OutputSize, Derived>::pretty_print(std::ostream& stream) const {
  stream << str("AdaptiveMaxPool", D, "d(output_size=", this->options.output_size(), ")");
}

template <size_t D, class OutputSize, class Derived>
void AdaptiveAvgPoolImpl<D, OutputSize, Derived>::pretty_print(std::ostream& stream) const {
  stream << str("AdaptiveAvgPool", D, "d(output_size=", this->options.output_size(), ")");
}

template <size_t D, class Derived>
void LPPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  stream << str("LPPool", D, "d(norm_type=", o.norm_type(), ", kernel_size=", o.kernel_size(),
                ", stride=", o.stride(), ", ceil_mode=", o.ceil_mode(), ")");
}

template <size_t D, class Derived>
void MaxUnpoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  stream << str("MaxUnpool", D, "d(kernel_size=", o.kernel_size(), ", stride=", o.stride(),
                ", padding=", o.padding(), ")");
}

template <size_t D, class Derived>
void FractionalMaxPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << str("FractionalMaxPool", D, "d()");
}

// ---- FractionalMaxPool

template <size_t D, class Derived>
FractionalMaxPoolImpl<D, Derived>::FractionalMaxPoolImpl(FractionalMaxPoolOptions<D> options_)
    : options(std::move(options_)) {
  FractionalMaxPoolImpl::reset();
}

template <size_t D, class Derived>
void FractionalMaxPoolImpl<D, Derived>::reset() {
  _random_samples = this->register_buffer("_random_samples", options._random_samples());
  HEARTH_CHECK(options.output_size() || options.output_ratio(), "FractionalMaxPool", D,
               "d requires specifying either an output size, or a pooling ratio");
  HEARTH_CHECK(!options.output_size() || !options.output_ratio(),
               "only one of output_size and output_ratio may be specified");
  if (!options.output_ratio()) return;
  for (const double ratio : **options.output_ratio())
    HEARTH_CHECK(0 < ratio && ratio < 1, "output_ratio must be between 0 and 1 (got ",
                 *options.output_ratio(), ")");
}

// ---- forward

#define HEARTH_DEFINE_FORWARD(Name, function)                                       \
  Tensor Name##Impl::forward(const Tensor& input) {                                 \
    return run_module(                                                              \
        *this, [this](const Tensor& x) { return F::function(x, options); }, input); \
  }
#define HEARTH_DEFINE_FORWARDS(Name, function)                                                     \
  HEARTH_DEFINE_FORWARD(Name, function)                                                            \
  TensorPair Name##Impl::forward_with_indices(const Tensor& input) {                               \
    return run_module(                                                                             \
        *this, [this](const Tensor& x) { return F::function##_with_indices(x, options); }, input); \
  }

#define HEARTH_DEFINE_POOLS(n)                                                                  \
  HEARTH_DEFINE_FORWARDS(MaxPool##n##d, max_pool##n##d)                                         \
  HEARTH_DEFINE_FORWARD(AvgPool##n##d, avg_pool##n##d)                                          \
  HEARTH_DEFINE_FORWARDS(AdaptiveMaxPool##n##d, adaptive_max_pool##n##d)                        \
  HEARTH_DEFINE_FORWARD(AdaptiveAvgPool##n##d, adaptive_avg_pool##n##d)                         \
  HEARTH_DEFINE_FORWARD(LPPool##n##d, lp_pool##n##d)                                            \
  HEARTH_DEFINE_DEFAULT_ARGS(MaxUnpool##n##dImpl,                                               \
                             {2, AnyValue(std::optional<std::vector<int64_t>>())})              \
  Tensor MaxUnpool##n##dImpl::forward(const Tensor& input, const Tensor& indices,               \
                                      const std::optional<std::vector<int64_t>>& output_size) { \
    const auto unpool = [this](const Tensor& x, const Tensor& i,                                \
                               const std::optional<std::vector<int64_t>>& size) {               \
      return F::max_unpool##n##d(x, i,                                                          \
                                 F::MaxUnpool##n##dFuncOptions(options.kernel_size())           \
                                     .stride(options.stride())                                  \
                                     .padding(options.padding())                                \
                                     .output_size(size));                                       \
    };                                                                                          \
    return run_module(*this, unpool, input, indices, output_size);                              \
  }                                                                                             \
  template class MaxPoolImpl<n, MaxPool##n##dImpl>;                                             \
  template class AvgPoolImpl<n, AvgPool##n##dImpl>;                                             \
  template class LPPoolImpl<n, LPPool##n##dImpl>;                                               \
  template class MaxUnpoolImpl<n, MaxUnpool##n##dImpl>;

#define HEARTH_DEFINE_FRACTIONAL_POOL(n)                                     \
  HEARTH_DEFINE_FORWARDS(FractionalMaxPool##n##d, fractional_max_pool##n##d) \
  template class FractionalMaxPoolImpl<n, FractionalMaxPool##n##dImpl>;

HEARTH_DEFINE_POOLS(1)
HEARTH_DEFINE_POOLS(2)
HEARTH_DEFINE_POOLS(3)
HEARTH_DEFINE_FRACTIONAL_POOL(2)
HEARTH_DEFINE_FRACTIONAL_POOL(3)

template class AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl>;
template class AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl>;
template class AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl>;
template class AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl>;
template class AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl>;
template class AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl>;

}  // namespace hearth::nn
