#include "ops/define.h"

namespace hearth {

namespace {

/// The product of the dimensions before the last three.
int64_t num_images(const Tensor& self) {
  int64_t product = 1;
  for (int64_t d = 0; d < self.dim() - 3; ++d) product *= self.size(d);
  return product;
}

/// Permutes [N, C, r, r, H, W] to [N, C, H, r, W, r]; PixelUnshuffle is the inverse.
struct PixelShuffle {
  struct Args {
    int64_t upscale_factor;
    HEARTH_FIELDS(upscale_factor)
  };
  static constexpr OpInfo info{.name = "pixel_shuffle"};
  static Tensor compute(const Args& args, const Tensor& self) {
    const int64_t r = args.upscale_factor;
    HEARTH_CHECK(self.dim() >= 3,
                 "pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
                 self.dim(), " dimension(s)");
    HEARTH_CHECK(r > 0, "pixel_shuffle expects a positive upscale_factor, but got ", r);
    HEARTH_CHECK_AS(
        ValueError, r <= INT32_MAX,
        "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor=", r);
    const int64_t channels = self.size(-3), h = self.size(-2), w = self.size(-1);
    HEARTH_CHECK(channels % (r * r) == 0,
                 "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
                 "square of upscale_factor, but input.size(-3)=",
                 channels, " is not divisible by ", r * r);
    Dims sizes(self.sizes().slice(0, size_t(self.dim() - 3)));
    for (const int64_t size : {channels / (r * r), h * r, w * r}) sizes.push_back(size);
    return self.reshape({num_images(self), channels / (r * r), r, r, h, w})
        .permute({0, 1, 4, 2, 5, 3})
        .reshape(sizes)
        .contiguous(self.suggest_memory_format());
  }
};
struct PixelUnshuffle {
  struct Args {
    int64_t downscale_factor;
    HEARTH_FIELDS(downscale_factor)
  };
  static constexpr OpInfo info{.name = "pixel_unshuffle"};
  static Tensor compute(const Args& args, const Tensor& self) {
    const int64_t r = args.downscale_factor;
    HEARTH_CHECK(self.dim() >= 3,
                 "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
                 self.dim(), " dimension(s)");
    HEARTH_CHECK(r > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", r);
    const int64_t channels = self.size(-3), h = self.size(-2), w = self.size(-1);
    const auto check = [r](const char* name, int64_t size, int dim) {
      HEARTH_CHECK(size % r == 0, "pixel_unshuffle expects ", name,
                   " to be divisible by downscale_factor, but input.size(", dim, ")=", size,
                   " is not divisible by ", r);
    };
    check("height", h, -2);
    check("width", w, -1);
    Dims sizes(self.sizes().slice(0, size_t(self.dim() - 3)));
    for (const int64_t size : {channels * r * r, h / r, w / r}) sizes.push_back(size);
    return self.reshape({num_images(self), channels, h / r, r, w / r, r})
        .permute({0, 1, 3, 5, 2, 4})
        .reshape(sizes)
        .contiguous(self.suggest_memory_format());
  }
};

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  return compose<PixelShuffle>({upscale_factor}, self);
}
Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  return compose<PixelUnshuffle>({downscale_factor}, self);
}

}  // namespace hearth
