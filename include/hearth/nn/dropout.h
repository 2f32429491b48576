#pragma once

#include "hearth/nn/stateless.h"

namespace hearth::nn {

struct HEARTH_API DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  HEARTH_ARG(double, p);
  HEARTH_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;

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

/// While training, zeroes each element with probability p and scales the rest by 1 / (1 - p).
class HEARTH_API DropoutImpl : public detail::DropoutNd<DropoutImpl> {
 public:
  using detail::DropoutNd<DropoutImpl>::DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Dropout);

/// The same with whole channels of images, [N, C, H, W] or [C, H, W].
class HEARTH_API Dropout2dImpl : public detail::DropoutNd<Dropout2dImpl> {
 public:
  using detail::DropoutNd<Dropout2dImpl>::DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Dropout2d);

namespace functional {

struct HEARTH_API DropoutFuncOptions {
  HEARTH_ARG(double, p) = 0.5;
  HEARTH_ARG(bool, training) = true;
  HEARTH_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;

HEARTH_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
HEARTH_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
