#pragma once

#include "hearth/nn/enum.h"
#include "hearth/operators.h"

namespace hearth::nn {

/// Defines forward() of a loss of an input and a target; `with_buffers` is an expression for the
/// loss's options with its buffers.
#define HEARTH_LOSS_FORWARD(Name, function, with_buffers)                 \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) { \
    return run_module(                                                    \
        *this,                                                            \
        [this](const Tensor& x, const Tensor& y) {                        \
          return functional::function(x, y, with_buffers);                \
        },                                                                \
        input, target);                                                   \
  }

/// Returns the Reduction of a loss's options.
template <class Options>
int64_t reduction_of(const Options& options) {
  return enumtype::reduction_get_enum(options.reduction());
}

/// Returns the losses, their mean or their sum, depending on the options.
template <class Options>
Tensor reduced(const Tensor& losses, const Options& options) {
  const int64_t reduction = reduction_of(options);
  if (reduction == Reduction::None) return losses;
  return reduction == Reduction::Mean ? losses.mean() : losses.sum();
}

}  // namespace hearth::nn
