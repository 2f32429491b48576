#include "hearth/nn/pixel_shuffle.h"

#include <ostream>

#include "hearth/operators.h"

namespace hearth::nn {

/// Defines a module and the function of the same op, whose only option is a number.
#define HEARTH_SHUFFLE(Name, op, option)                                               \
  namespace functional {                                                               \
  Tensor op(const Tensor& input, const Name##FuncOptions& options) {                   \
    return hearth::op(input, options.option());                                        \
  }                                                                                    \
  }                                                                                    \
  Tensor Name##Impl::forward(const Tensor& input) {                                    \
    return run_module(                                                                 \
        *this, [this](const Tensor& x) { return functional::op(x, options); }, input); \
  }                                                                                    \
  void Name##Impl::pretty_print(std::ostream& stream) const {                          \
    stream << hearth::detail::str(#Name, "(", #option, "=", options.option(), ")");    \
  }

HEARTH_SHUFFLE(PixelShuffle, pixel_shuffle, upscale_factor)
HEARTH_SHUFFLE(PixelUnshuffle, pixel_unshuffle, downscale_factor)
HEARTH_SHUFFLE(ChannelShuffle, channel_shuffle, groups)
#undef HEARTH_SHUFFLE

}  // namespace hearth::nn
