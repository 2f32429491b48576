#pragma once

#include <cstdint>

#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of PixelShuffle.
struct HEARTH_API PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  HEARTH_ARG(int64_t, upscale_factor);  ///< factor of height and width
};
/// Options of PixelUnshuffle.
struct HEARTH_API PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  HEARTH_ARG(int64_t, downscale_factor);  ///< divisor of height and width
};
/// Options of ChannelShuffle.
struct HEARTH_API ChannelShuffleOptions {
  ChannelShuffleOptions(int64_t groups) : groups_(groups) {}
  HEARTH_ARG(int64_t, groups);  ///< must divide the number of channels
};

/// [N, C * r^2, H, W] to [N, C, H * r, W * r], where r is the upscale factor.
HEARTH_STATELESS_MODULE(PixelShuffle, PixelShuffleOptions, const Tensor&);
/// [N, C, H * r, W * r] to [N, C * r^2, H, W], where r is the downscale factor.
HEARTH_STATELESS_MODULE(PixelUnshuffle, PixelUnshuffleOptions, const Tensor&);
/// Reorders channels: channel i of group g becomes channel i * groups + g.
HEARTH_STATELESS_MODULE(ChannelShuffle, ChannelShuffleOptions, const Tensor&);

namespace functional {
using PixelShuffleFuncOptions = PixelShuffleOptions;      ///< options of pixel_shuffle
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;  ///< options of pixel_unshuffle
using ChannelShuffleFuncOptions = ChannelShuffleOptions;  ///< options of channel_shuffle
/// As PixelShuffle.
HEARTH_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
/// As PixelUnshuffle.
HEARTH_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);
/// As ChannelShuffle.
HEARTH_API Tensor channel_shuffle(const Tensor& input, const ChannelShuffleFuncOptions& options);
}  // namespace functional

}  // namespace hearth::nn
