#pragma once

#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of Dropout and Dropout2d.
struct HEARTH_API DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  HEARTH_ARG(double, p);              ///< probability of zeroing an element
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
using Dropout2dOptions = DropoutOptions;  ///< options of Dropout2d

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

/// In training mode, zeroes each element with probability p and scales the others by 1 / (1 - p).
class HEARTH_API DropoutImpl : public detail::DropoutNd<DropoutImpl> {
 public:
  using detail::DropoutNd<DropoutImpl>::DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Dropout);

/// In training mode, zeroes whole channels of [N, C, H, W] or [C, H, W] with probability p.
class HEARTH_API Dropout2dImpl : public detail::DropoutNd<Dropout2dImpl> {
 public:
  using detail::DropoutNd<Dropout2dImpl>::DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Dropout2d);

namespace functional {

/// Options of dropout and dropout2d.
struct HEARTH_API DropoutFuncOptions {
  HEARTH_ARG(double, p) = 0.5;        ///< probability of zeroing an element or channel
  HEARTH_ARG(bool, training) = true;  ///< if false, the result is the input
  HEARTH_ARG(bool, inplace) = false;  ///< whether the result replaces the input
};
using Dropout2dFuncOptions = DropoutFuncOptions;  ///< options of dropout2d

HEARTH_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});  ///< as Dropout
/// As Dropout2d.
HEARTH_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
