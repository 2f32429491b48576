// Pictures of discs, which generative models learn to draw.
#pragma once

#include <hearth/hearth.h>

namespace discs {

using namespace hearth;

inline constexpr int64_t kSize = 16;  // pixels

/// The places of the pixels in one direction, -1 to 1.
inline Tensor places(Device device) {
  return ((arange(kSize, TensorOptions(kFloat).device(device)) + 0.5) / kSize) * 2 - 1;
}

/// Draws bright discs with soft edges: pictures [N, 1, kSize, kSize] of numbers from 0 to 1.
/// `discs`: [N, 3], the centre (x, y) and the radius.
inline Tensor draw(const Tensor& discs) {
  const auto part = [&](int64_t i) { return discs.select(1, i).view({-1, 1, 1, 1}); };
  const Tensor at = places(discs.device());
  const Tensor distance =
      ((at.view({1, 1, 1, -1}) - part(0)).square() + (at.view({1, 1, -1, 1}) - part(1)).square())
          .sqrt();
  return ((part(2) - distance) * 10).sigmoid();
}

/// Random discs that lie inside of the picture.
inline Tensor random(int64_t count, Device device) {
  const Tensor numbers = rand({count, 3}).to(device);
  const Tensor radius = 0.25 + 0.25 * numbers.slice(1, 2);
  return cat({(numbers.slice(1, 0, 2) * 2 - 1) * (0.9 - radius), radius}, 1);
}

/// The discs with the centre of mass and the area of each picture's brightness.
inline Tensor fit(const Tensor& pictures) {
  const Tensor at = places(pictures.device());
  const Tensor brightness = pictures.squeeze(1), sum = brightness.sum({1, 2}).clamp_min(1e-6);
  const Tensor x = (brightness.sum(1) * at).sum(1) / sum, y = (brightness.sum(2) * at).sum(1) / sum;
  const double pixel_area = 4.0 / (kSize * kSize), pi = 3.14159265;
  return stack({x, y, (sum * pixel_area / pi).sqrt()}, 1);
}

/// The share of pictures that show one disc: they differ from the fitted disc by less than a fifth
/// of their brightness.
inline double share_of_discs(const Tensor& pictures) {
  const Tensor error = (pictures - draw(fit(pictures))).abs().sum({1, 2, 3});
  return error.lt(0.2 * pictures.sum({1, 2, 3})).to(kFloat).mean().item<double>();
}

}  // namespace discs
