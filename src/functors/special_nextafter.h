#pragma once

#include "functors/special_chebyshev.h"

namespace hearth::fn::special {

/// The neighbour of `from` in the direction of `to`, in float64 and float32.
HEARTH_SCALAR double nextafter(double from, double to) { return std::nextafter(from, to); }
HEARTH_SCALAR double nextafter_float(double from, double to) {
  return std::nextafter(static_cast<float>(from), static_cast<float>(to));
}
/// The same in a format with `digits` binary digits, whose smallest positive number is 2^lowest.
HEARTH_SCALAR double nextafter_in(double from, double to, int digits, int lowest, double largest) {
  if (std::isnan(from) || std::isnan(to)) return from + to;
  if (from == to) return to;
  if (from == 0) return std::copysign(std::ldexp(1.0, lowest), to);
  if (std::isinf(from)) return std::copysign(largest, from);
  const bool grows = (to > from) == (from > 0);
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(from), &exponent);
  // Below a power of two, neighbours are half as far apart as above.
  exponent -= !grows && fraction == 0.5 ? digits + 1 : digits;
  const double step = std::ldexp(1.0, exponent < lowest ? lowest : exponent);
  // The outer copysign gives -0 after the negative number nearest to 0.
  return std::copysign(from + std::copysign(step, to - from), from);
}
HEARTH_SCALAR double nextafter_bfloat16(double from, double to) {
  return nextafter_in(from, to, 8, -133, 0x1.fep127);
}
HEARTH_SCALAR double nextafter_half(double from, double to) {
  return nextafter_in(from, to, 11, -24, 65504);
}

}  // namespace hearth::fn::special
