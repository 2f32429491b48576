#pragma once

// Maps from random bits to random numbers, for CPU and CUDA kernels. A draw is a small struct with
// a type `Bits` (32 or 64 bits, or a PhiloxBlock) and `T operator()(Bits)`.

#include <math.h>

#include "core/philox.h"
#include "hearth/dtype.h"

namespace hearth {

using Bits32 = uint32_t;
using Bits64 = uint64_t;
/// 64 bits in the order in which a Mersenne twister draws them: two words, the higher one first.
struct WordPair {
  uint32_t high, low;
  HEARTH_FN operator Bits64() const { return Bits64{high} << 32 | low; }
};

/// The type in which random numbers of type T are computed, and the bits that a uniform number
/// takes.
template <class T>
struct DrawTypes {
  using Compute = float;
  using Bits = Bits32;
};
template <>
struct DrawTypes<double> {
  using Compute = double;
  using Bits = Bits64;
};

/// The lower 24 or 53 bits as a number from [0, 1).
HEARTH_FN float unit(Bits32 bits) { return static_cast<float>(bits & 0xffffffu) * 0x1p-24f; }
HEARTH_FN double unit(Bits64 bits) {
  return static_cast<double>(bits & ((Bits64{1} << 53) - 1)) * 0x1p-53;
}

/// x * y + z, rounded once.
template <class A>
HEARTH_FN A fused(A x, A y, A z) {
  if constexpr (sizeof(A) == 4)
    return ::fmaf(x, y, z);
  else
    return ::fma(x, y, z);
}

/// Uniform in [low, high).
template <class T>
struct UniformDraw {
  using Compute = typename DrawTypes<T>::Compute;
  using Bits = typename DrawTypes<T>::Bits;
  Compute from, span;
  T low, high;

  UniformDraw(double begin, double end)
      : from(static_cast<Compute>(begin)),
        span(static_cast<Compute>(end) - from),
        low(static_cast<T>(from)),
        high(static_cast<T>(static_cast<Compute>(end))) {}
  HEARTH_FN T operator()(Bits bits) const {
    const T value = static_cast<T>(fused(unit(bits), span, from));
    return value >= high ? low : value;  // rounding may reach high
  }
};

/// True with probability p: the lower 32 or 53 bits, as a number from [0, 1), are less than p.
/// Compared exactly, as integers.
template <class BitsType>
struct BernoulliDraw {
  using Bits = BitsType;
  static constexpr Bits64 kRange = Bits64{1} << (sizeof(Bits) == 8 ? 53 : 32);
  Bits64 threshold;

  explicit BernoulliDraw(double p)
      : threshold(static_cast<Bits64>(::ceil(p * static_cast<double>(kRange)))) {}
  HEARTH_FN bool operator()(Bits bits) const { return (bits & (kRange - 1)) < threshold; }
};

/// Uniform in [from, from + range); range 0 stands for 2^64.
template <class T, class BitsType>
struct IntegerDraw {
  using Bits = BitsType;
  /// Ranges of at least this size take 64 bits.
  static constexpr Bits64 kWideRange = Bits64{1} << 28;
  Bits64 from, range;

  HEARTH_FN T operator()(Bits bits) const {
    return static_cast<T>(static_cast<int64_t>(range == 0 ? bits : bits % range + from));
  }
};

/// Returns the end of the range [0, end) of a dtype's random_(). For floating types, end - 1 is the
/// last integer up to which all are exact.
template <class T>
constexpr Bits64 full_range() {
  constexpr ScalarType type = dtype_of<T>;
  if constexpr (type == kBool)
    return 2;
  else if constexpr (type == kByte)
    return 1 << 8;
  else if constexpr (type == kHalf)
    return (1 << 11) + 1;
  else if constexpr (type == kBFloat16)
    return (1 << 8) + 1;
  else if constexpr (type == kFloat)
    return (1 << 24) + 1;
  else if constexpr (type == kDouble)
    return (Bits64{1} << 53) + 1;
  else
    return Bits64{1} << (8 * sizeof(T) - 1);
}

/// Exponential with a rate.
template <class T>
struct ExponentialDraw {
  using Bits = Bits64;
  double scale;
  explicit ExponentialDraw(double rate) : scale(-1 / rate) {}
  HEARTH_FN T operator()(Bits bits) const {
    using Compute = typename DrawTypes<T>::Compute;
    return static_cast<T>(static_cast<Compute>(scale * ::log1p(-unit(bits))));
  }
};

/// Normal: one number of a Box-Muller pair, from two uniform numbers of 32 bits (53 for double).
template <class T>
struct NormalDraw {
  using Compute = typename DrawTypes<T>::Compute;
  using Bits = Bits64;
  Compute mean, deviation;
  NormalDraw(double mu, double sigma)
      : mean(static_cast<Compute>(mu)), deviation(static_cast<Compute>(sigma)) {}

  HEARTH_FN T operator()(Bits bits) const {
    // The 0.5 keeps the logarithm finite.
    const float u = (static_cast<float>(static_cast<Bits32>(bits >> 32)) + 0.5f) * 0x1p-32f;
    const float v = static_cast<float>(static_cast<Bits32>(bits)) * 0x1p-32f;
    return static_cast<T>(::sqrtf(-2 * ::logf(u)) * ::cosf(6.2831853f * v) * deviation + mean);
  }
};
template <>
struct NormalDraw<double> {
  using Bits = PhiloxBlock;
  double mean, deviation;
  NormalDraw(double mu, double sigma) : mean(mu), deviation(sigma) {}

  template <class Block>
  HEARTH_FN double operator()(const Block& block) const {
    const double u = 1 - unit(philox_lane<Bits64>(block, 0));
    const double v = unit(philox_lane<Bits64>(block, 1));
    return ::sqrt(-2 * ::log(u)) * ::cos(6.283185307179586 * v) * deviation + mean;
  }
};

}  // namespace hearth
