#pragma once

#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of all kinds of dropout.
struct HEARTH_API DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  HEARTH_ARG(double, p);              ///< probability of zeroing an element or channel
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
using Dropout1dOptions = DropoutOptions;            ///< options of Dropout1d
using Dropout2dOptions = DropoutOptions;            ///< options of Dropout2d
using Dropout3dOptions = DropoutOptions;            ///< options of Dropout3d
using AlphaDropoutOptions = DropoutOptions;         ///< options of AlphaDropout
using FeatureAlphaDropoutOptions = DropoutOptions;  ///< options of FeatureAlphaDropout

namespace detail {

template <class Derived>
class DropoutNd : public Cloneable<Derived> {
 public:
  DropoutNd(double p) : DropoutNd(DropoutOptions(p)) {}
  explicit DropoutNd(const DropoutOptions& options_ = {}) : options(options_) {
    DropoutNd::reset();
  }
  void reset() override {
    HEARTH_CHECK(options.p() >= 0 && options.p() <= 1,
                 "dropout probability has to be between 0 and 1, but got ", options.p());
  }

  DropoutOptions options;
};

}  // namespace detail

#define HEARTH_DROPOUT_MODULE(Name)                                    \
  class HEARTH_API Name##Impl : public detail::DropoutNd<Name##Impl> { \
   public:                                                             \
    using detail::DropoutNd<Name##Impl>::DropoutNd;                    \
    Tensor forward(Tensor input);                                      \
    void pretty_print(std::ostream& stream) const override;            \
  };                                                                   \
  HEARTH_MODULE(Name)

/// In training mode, zeroes each element with probability p and scales the others by 1 / (1 - p).
HEARTH_DROPOUT_MODULE(Dropout);
/// In training mode, zeroes whole channels of [N, C, L] or [C, L] with probability p.
HEARTH_DROPOUT_MODULE(Dropout1d);
/// In training mode, zeroes whole channels of [N, C, H, W] or [C, H, W] with probability p.
HEARTH_DROPOUT_MODULE(Dropout2d);
/// In training mode, zeroes whole channels of [N, C, D, H, W] or [C, D, H, W] with probability p.
HEARTH_DROPOUT_MODULE(Dropout3d);
/// In training mode, sets elements to SELU's lower limit with probability p, then scales and shifts
/// all elements so that mean and variance stay the same.
HEARTH_DROPOUT_MODULE(AlphaDropout);
/// AlphaDropout of whole channels of [N, C, …].
HEARTH_DROPOUT_MODULE(FeatureAlphaDropout);
#undef HEARTH_DROPOUT_MODULE

namespace functional {

/// Options of dropout, dropout1d, dropout2d and dropout3d.
struct HEARTH_API DropoutFuncOptions {
  HEARTH_ARG(double, p) = 0.5;        ///< probability of zeroing an element or channel
  HEARTH_ARG(bool, training) = true;  ///< if false, the result is the input
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
using Dropout1dFuncOptions = DropoutFuncOptions;  ///< options of dropout1d
using Dropout2dFuncOptions = DropoutFuncOptions;  ///< options of dropout2d
using Dropout3dFuncOptions = DropoutFuncOptions;  ///< options of dropout3d
/// Options of alpha_dropout and feature_alpha_dropout.
struct HEARTH_API AlphaDropoutFuncOptions {
  HEARTH_ARG(double, p) = 0.5;         ///< probability of dropping an element or channel
  HEARTH_ARG(bool, training) = false;  ///< if false, the result is the input
  HEARTH_ARG(bool, inplace) = false;   ///< whether the result replaces the input
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;  ///< of feature_alpha_dropout

HEARTH_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});  ///< as Dropout
/// As Dropout1d.
HEARTH_API Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& options = {});
/// As Dropout2d.
HEARTH_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
/// As Dropout3d.
HEARTH_API Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
/// As AlphaDropout.
HEARTH_API Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
/// As FeatureAlphaDropout.
HEARTH_API Tensor feature_alpha_dropout(Tensor input,
                                        const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
