#pragma once

#include "hearth/nn/conv.h"
#include "hearth/nn/instance_norm.h"
#include "hearth/nn/linear.h"

// Holders that create modules whose number of input features or channels is unknown: the first call
// takes the number from the input and draws the initial values. Until then, parameters are tensors
// without elements, which the first call fills. The options' number of input features or channels
// is ignored.
namespace hearth::nn {

/// A Linear.
class HEARTH_API LazyLinear : public Linear {
 public:
  explicit LazyLinear(int64_t out_features, bool bias = true);
};

#define HEARTH_LAZY_CONV(Conv, D)                                    \
  class HEARTH_API Lazy##Conv : public Conv {                        \
   public:                                                           \
    Lazy##Conv(int64_t out_channels, ExpandingArray<D> kernel_size); \
    explicit Lazy##Conv(Conv##Options options);                      \
  }
/// Convolutions.
HEARTH_LAZY_CONV(Conv1d, 1);
HEARTH_LAZY_CONV(Conv2d, 2);
HEARTH_LAZY_CONV(Conv3d, 3);
/// Transposed convolutions.
HEARTH_LAZY_CONV(ConvTranspose1d, 1);
HEARTH_LAZY_CONV(ConvTranspose2d, 2);
HEARTH_LAZY_CONV(ConvTranspose3d, 3);
#undef HEARTH_LAZY_CONV

#define HEARTH_LAZY_NORM(Norm)                                \
  class HEARTH_API Lazy##Norm : public Norm {                 \
   public:                                                    \
    explicit Lazy##Norm(const Norm##Options& options_ = {0}); \
  }
/// Batch normalization.
HEARTH_LAZY_NORM(BatchNorm1d);
HEARTH_LAZY_NORM(BatchNorm2d);
HEARTH_LAZY_NORM(BatchNorm3d);
/// Instance normalization.
HEARTH_LAZY_NORM(InstanceNorm1d);
HEARTH_LAZY_NORM(InstanceNorm2d);
HEARTH_LAZY_NORM(InstanceNorm3d);
#undef HEARTH_LAZY_NORM

}  // namespace hearth::nn
