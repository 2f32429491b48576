#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hearth/nn/any.h"
#include "hearth/nn/enum.h"
#include "hearth/nn/expanding_array.h"
#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of MaxPool1d to MaxPool3d and max_pool1d to max_pool3d.
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);   ///< size of a window
  HEARTH_ARG(ExpandingArray<D>, stride);        ///< distance between windows (default: kernel_size)
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;   ///< border of -infinity
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;  ///< distance between elements in a window
  HEARTH_ARG(bool, ceil_mode) = false;          ///< whether windows may be incomplete
};
/// Options of AvgPool1d to AvgPool3d and avg_pool1d to avg_pool3d.
template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);            ///< size of a window
  HEARTH_ARG(ExpandingArray<D>, stride);                 ///< by default kernel_size
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;            ///< border of zeros
  HEARTH_ARG(bool, ceil_mode) = false;                   ///< whether windows may be incomplete
  HEARTH_ARG(bool, count_include_pad) = true;            ///< whether the mean includes the padding
  HEARTH_ARG(std::optional<int64_t>, divisor_override);  ///< divisor instead of the element count
};
/// Options of AdaptiveMaxPool1d to AdaptiveMaxPool3d and of the functions.
template <class OutputSize>
struct AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(OutputSize output_size) : output_size_(output_size) {}
  HEARTH_ARG(OutputSize, output_size);  ///< std::nullopt keeps the input's size
};
/// Options of AdaptiveAvgPool1d to AdaptiveAvgPool3d and of the functions.
template <class OutputSize>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(OutputSize output_size) : output_size_(output_size) {}
  HEARTH_ARG(OutputSize, output_size);  ///< std::nullopt keeps the input's size
};
/// Options of LPPool1d to LPPool3d and lp_pool1d to lp_pool3d.
template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(double, norm_type);               ///< the power p
  HEARTH_ARG(ExpandingArray<D>, kernel_size);  ///< size of a window
  HEARTH_ARG(ExpandingArray<D>, stride);       ///< by default kernel_size
  HEARTH_ARG(bool, ceil_mode) = false;         ///< whether windows may be incomplete
};
/// Options of MaxUnpool1d to MaxUnpool3d, with the values that the pool had.
template <size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);  ///< size of a window
  HEARTH_ARG(ExpandingArray<D>, stride);       ///< by default kernel_size
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;  ///< border of the pool's input
};
/// Options of FractionalMaxPool2d, FractionalMaxPool3d and of the functions: either output_size or
/// output_ratio must be set.
template <size_t D>
struct FractionalMaxPoolOptions {
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  HEARTH_ARG(ExpandingArray<D>, kernel_size);  ///< size of a window
  /// The number of windows. (The optional takes 8 bytes for each number and 8 for its flag.)
  HEARTH_CHOICE(std::optional<ExpandingArray<D>>, output_size, 8 * D + 8) = std::nullopt;
  /// Windows per input element.
  HEARTH_CHOICE(std::optional<ExpandingArrayDouble>, output_ratio, 8 * D + 8) = std::nullopt;
  HEARTH_ARG(Tensor, _random_samples);  ///< [N, C, D], in [0, 1); drawn if undefined
};

/// The options by dimension.
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

/// Base of MaxPool1d to MaxPool3d.
template <size_t D, class Derived>
class HEARTH_API MaxPoolImpl : public detail::Stateless<Derived, MaxPoolOptions<D>> {
 public:
  MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  explicit MaxPoolImpl(const MaxPoolOptions<D>& options_)
      : detail::Stateless<Derived, MaxPoolOptions<D>>(options_) {}
  void pretty_print(std::ostream& stream) const override;
};
/// Base of AvgPool1d to AvgPool3d.
template <size_t D, class Derived>
class HEARTH_API AvgPoolImpl : public detail::Stateless<Derived, AvgPoolOptions<D>> {
 public:
  AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  explicit AvgPoolImpl(const AvgPoolOptions<D>& options_)
      : detail::Stateless<Derived, AvgPoolOptions<D>>(options_) {}
  void pretty_print(std::ostream& stream) const override;
};
/// Base of AdaptiveMaxPool1d to AdaptiveMaxPool3d.
template <size_t D, class OutputSize, class Derived>
class HEARTH_API AdaptiveMaxPoolImpl
    : public detail::Stateless<Derived, AdaptiveMaxPoolOptions<OutputSize>> {
 public:
  AdaptiveMaxPoolImpl(OutputSize output_size)
      : AdaptiveMaxPoolImpl(AdaptiveMaxPoolOptions<OutputSize>(output_size)) {}
  explicit AdaptiveMaxPoolImpl(const AdaptiveMaxPoolOptions<OutputSize>& options_)
      : detail::Stateless<Derived, AdaptiveMaxPoolOptions<OutputSize>>(options_) {}
  void pretty_print(std::ostream& stream) const override;
};
/// Base of AdaptiveAvgPool1d to AdaptiveAvgPool3d.
template <size_t D, class OutputSize, class Derived>
class HEARTH_API AdaptiveAvgPoolImpl
    : public detail::Stateless<Derived, AdaptiveAvgPoolOptions<OutputSize>> {
 public:
  AdaptiveAvgPoolImpl(OutputSize output_size)
      : AdaptiveAvgPoolImpl(AdaptiveAvgPoolOptions<OutputSize>(output_size)) {}
  explicit AdaptiveAvgPoolImpl(const AdaptiveAvgPoolOptions<OutputSize>& options_)
      : detail::Stateless<Derived, AdaptiveAvgPoolOptions<OutputSize>>(options_) {}
  void pretty_print(std::ostream& stream) const override;
};
/// Base of LPPool1d to LPPool3d.
template <size_t D, class Derived>
class HEARTH_API LPPoolImpl : public detail::Stateless<Derived, LPPoolOptions<D>> {
 public:
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size)
      : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
  explicit LPPoolImpl(const LPPoolOptions<D>& options_)
      : detail::Stateless<Derived, LPPoolOptions<D>>(options_) {}
  void pretty_print(std::ostream& stream) const override;
};
/// Base of MaxUnpool1d to MaxUnpool3d.
template <size_t D, class Derived>
class HEARTH_API MaxUnpoolImpl : public detail::Stateless<Derived, MaxUnpoolOptions<D>> {
 public:
  MaxUnpoolImpl(ExpandingArray<D> kernel_size) : MaxUnpoolImpl(MaxUnpoolOptions<D>(kernel_size)) {}
  explicit MaxUnpoolImpl(const MaxUnpoolOptions<D>& options_)
      : detail::Stateless<Derived, MaxUnpoolOptions<D>>(options_) {}
  void pretty_print(std::ostream& stream) const override;
};
/// Base of FractionalMaxPool2d and FractionalMaxPool3d.
template <size_t D, class Derived>
class HEARTH_API FractionalMaxPoolImpl : public Cloneable<Derived> {
 public:
  FractionalMaxPoolImpl(ExpandingArray<D> kernel_size)
      : FractionalMaxPoolImpl(FractionalMaxPoolOptions<D>(kernel_size)) {}
  explicit FractionalMaxPoolImpl(FractionalMaxPoolOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  FractionalMaxPoolOptions<D> options;  ///< the options of the constructor
  Tensor _random_samples;               ///< options._random_samples()
};

/// Declares NameImpl with the members and its holder; the base is the last argument.
#define HEARTH_POOL_CLASS(Name, members, ...)        \
  class HEARTH_API Name##Impl : public __VA_ARGS__ { \
    using Base = __VA_ARGS__;                        \
                                                     \
   public:                                           \
    using Base::Base;                                \
    members                                          \
  };                                                 \
  HEARTH_MODULE(Name);                               \
  extern template class __VA_ARGS__
#define HEARTH_POOL(Name, ...) \
  HEARTH_POOL_CLASS(Name, Tensor forward(const Tensor& input);, __VA_ARGS__)
/// forward_with_indices() also returns the index of each element in its plane or volume, row-major.
#define HEARTH_POOL_WITH_INDICES(Name, ...)                    \
  HEARTH_POOL_CLASS(Name, Tensor forward(const Tensor& input); \
                    TensorPair forward_with_indices(const Tensor& input);, __VA_ARGS__)
#define HEARTH_UNPOOL(Name, ...)                                                                   \
  HEARTH_POOL_CLASS(                                                                               \
      Name, Tensor forward(const Tensor& input, const Tensor& indices,                             \
                           const std::optional<std::vector<int64_t>>& output_size = std::nullopt); \
      protected                                                                                    \
      : HEARTH_DECLARE_DEFAULT_ARGS, __VA_ARGS__)

/// The largest element of each window of [N, C, L] or [C, L].
HEARTH_POOL_WITH_INDICES(MaxPool1d, MaxPoolImpl<1, MaxPool1dImpl>);
/// The largest element of each window of [N, C, H, W] or [C, H, W].
HEARTH_POOL_WITH_INDICES(MaxPool2d, MaxPoolImpl<2, MaxPool2dImpl>);
/// The largest element of each window of [N, C, D, H, W] or [C, D, H, W].
HEARTH_POOL_WITH_INDICES(MaxPool3d, MaxPoolImpl<3, MaxPool3dImpl>);
/// The mean of each window of [N, C, L] or [C, L].
HEARTH_POOL(AvgPool1d, AvgPoolImpl<1, AvgPool1dImpl>);
/// The mean of each window of [N, C, H, W] or [C, H, W].
HEARTH_POOL(AvgPool2d, AvgPoolImpl<2, AvgPool2dImpl>);
/// The mean of each window of [N, C, D, H, W] or [C, D, H, W].
HEARTH_POOL(AvgPool3d, AvgPoolImpl<3, AvgPool3dImpl>);
/// The largest elements of output_size windows, which cover [N, C, L] or [C, L].
HEARTH_POOL_WITH_INDICES(AdaptiveMaxPool1d,
                         AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl>);
/// The largest elements of output_size windows, which cover [N, C, H, W] or [C, H, W].
HEARTH_POOL_WITH_INDICES(
    AdaptiveMaxPool2d,
    AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl>);
/// The largest elements of output_size windows, which cover [N, C, D, H, W] or [C, D, H, W].
HEARTH_POOL_WITH_INDICES(
    AdaptiveMaxPool3d,
    AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl>);
/// The means of output_size windows, which cover [N, C, L] or [C, L].
HEARTH_POOL(AdaptiveAvgPool1d, AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl>);
/// The means of output_size windows, which cover [N, C, H, W] or [C, H, W].
HEARTH_POOL(AdaptiveAvgPool2d,
            AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl>);
/// The means of output_size windows, which cover [N, C, D, H, W] or [C, D, H, W].
HEARTH_POOL(AdaptiveAvgPool3d,
            AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl>);
/// The p-norm of each window of [N, C, L] or [C, L].
HEARTH_POOL(LPPool1d, LPPoolImpl<1, LPPool1dImpl>);
/// The p-norm of each window of [N, C, H, W] or [C, H, W].
HEARTH_POOL(LPPool2d, LPPoolImpl<2, LPPool2dImpl>);
/// The p-norm of each window of [N, C, D, H, W] or [C, D, H, W].
HEARTH_POOL(LPPool3d, LPPoolImpl<3, LPPool3dImpl>);
/// The inverse of MaxPool1d: the elements at its indices, zeros elsewhere.
HEARTH_UNPOOL(MaxUnpool1d, MaxUnpoolImpl<1, MaxUnpool1dImpl>);
/// The inverse of MaxPool2d: the elements at its indices, zeros elsewhere.
HEARTH_UNPOOL(MaxUnpool2d, MaxUnpoolImpl<2, MaxUnpool2dImpl>);
/// The inverse of MaxPool3d: the elements at its indices, zeros elsewhere.
HEARTH_UNPOOL(MaxUnpool3d, MaxUnpoolImpl<3, MaxUnpool3dImpl>);
/// The largest elements of windows at random positions in [N, C, H, W] or [C, H, W].
HEARTH_POOL_WITH_INDICES(FractionalMaxPool2d, FractionalMaxPoolImpl<2, FractionalMaxPool2dImpl>);
/// The largest elements of windows at random positions in [N, C, D, H, W] or [C, D, H, W].
HEARTH_POOL_WITH_INDICES(FractionalMaxPool3d, FractionalMaxPoolImpl<3, FractionalMaxPool3dImpl>);
#undef HEARTH_POOL_CLASS
#undef HEARTH_POOL
#undef HEARTH_POOL_WITH_INDICES
#undef HEARTH_UNPOOL

namespace functional {

/// Options of max_unpool1d to max_unpool3d.
template <size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);  ///< size of the pool's windows
  HEARTH_ARG(ExpandingArray<D>, stride);       ///< by default kernel_size
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;  ///< border of the pool's input
  /// The pool's input size, where several are possible.
  HEARTH_ARG(std::optional<std::vector<int64_t>>, output_size);
};

/// The functions and their options by dimension.
#define HEARTH_POOLS(n)                                                                           \
  using MaxPool##n##dFuncOptions = MaxPool##n##dOptions;                                          \
  using AvgPool##n##dFuncOptions = AvgPool##n##dOptions;                                          \
  using AdaptiveMaxPool##n##dFuncOptions = AdaptiveMaxPool##n##dOptions;                          \
  using AdaptiveAvgPool##n##dFuncOptions = AdaptiveAvgPool##n##dOptions;                          \
  using LPPool##n##dFuncOptions = LPPool##n##dOptions;                                            \
  using MaxUnpool##n##dFuncOptions = MaxUnpoolFuncOptions<n>;                                     \
  HEARTH_API Tensor max_pool##n##d(const Tensor& input, const MaxPool##n##dFuncOptions& options); \
  HEARTH_API TensorPair max_pool##n##d_with_indices(const Tensor& input,                          \
                                                    const MaxPool##n##dFuncOptions& options);     \
  HEARTH_API Tensor avg_pool##n##d(const Tensor& input, const AvgPool##n##dFuncOptions& options); \
  HEARTH_API Tensor adaptive_max_pool##n##d(const Tensor& input,                                  \
                                            const AdaptiveMaxPool##n##dFuncOptions& options);     \
  HEARTH_API TensorPair adaptive_max_pool##n##d_with_indices(                                     \
      const Tensor& input, const AdaptiveMaxPool##n##dFuncOptions& options);                      \
  HEARTH_API Tensor adaptive_avg_pool##n##d(const Tensor& input,                                  \
                                            const AdaptiveAvgPool##n##dFuncOptions& options);     \
  HEARTH_API Tensor lp_pool##n##d(const Tensor& input, const LPPool##n##dFuncOptions& options);   \
  HEARTH_API Tensor max_unpool##n##d(const Tensor& input, const Tensor& indices,                  \
                                     const MaxUnpool##n##dFuncOptions& options)
#define HEARTH_FRACTIONAL_POOLS(n)                                                                \
  using FractionalMaxPool##n##dFuncOptions = FractionalMaxPool##n##dOptions;                      \
  HEARTH_API Tensor fractional_max_pool##n##d(const Tensor& input,                                \
                                              const FractionalMaxPool##n##dFuncOptions& options); \
  HEARTH_API TensorPair fractional_max_pool##n##d_with_indices(                                   \
      const Tensor& input, const FractionalMaxPool##n##dFuncOptions& options)
HEARTH_POOLS(1);             ///< as MaxPool1d, AvgPool1d, …
HEARTH_POOLS(2);             ///< as MaxPool2d, AvgPool2d, …
HEARTH_POOLS(3);             ///< as MaxPool3d, AvgPool3d, …
HEARTH_FRACTIONAL_POOLS(2);  ///< as FractionalMaxPool2d
HEARTH_FRACTIONAL_POOLS(3);  ///< as FractionalMaxPool3d
#undef HEARTH_POOLS
#undef HEARTH_FRACTIONAL_POOLS
/// The last sizes of a pool's input, computed from its result: output_size, or the smallest
/// possible sizes.
HEARTH_API std::vector<int64_t> _unpool_output_size(
    const Tensor& input, const IntArrayRef& kernel_size, const IntArrayRef& stride,
    const IntArrayRef& padding, const std::optional<std::vector<int64_t>>& output_size);

}  // namespace functional

}  // namespace hearth::nn
