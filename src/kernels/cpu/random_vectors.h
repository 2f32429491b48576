#pragma once

// The loops of random numbers for one instruction set, in vectors of 8 lanes. Normal numbers are
// bound by log, sine and cosine; other loops have a few instructions for each vector. With fused
// multiply-add, results equal PyTorch's bit for bit. The order of the statements decides which
// products and sums the compiler fuses: do not change it.

#include "core/mt19937_block.h"
#include "functors/hd.h"
#include "kernels/cpu/random_loops.h"

namespace hearth::cpu {

template <class Isa>
struct RandomVectors {
  static constexpr int kLanes = 8;
  typedef float Floats __attribute__((vector_size(4 * kLanes)));
  typedef int32_t Ints __attribute__((vector_size(4 * kLanes)));
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  typedef int8_t Bytes __attribute__((vector_size(4 * kLanes)));

  template <class Bits, class A>
  static void uniform(const Bits* bits, int64_t count, A low, A span, A high, A* to) {
    constexpr int digits = sizeof(A) == 4 ? 24 : 53;
    constexpr Bits range = Bits{1} << digits;
    constexpr A scale = A(1) / static_cast<A>(range);
    for (int64_t i = 0; i < count; ++i) {
      // The signed type converts faster, and the bits fit.
      using Signed = decltype(signed_of(Bits{}));
      const A unit = static_cast<A>(static_cast<Signed>(bits[i] & (range - 1))) * scale;
      const A value = unit * span + low;
      to[i] = value >= high ? low : value;
    }
  }

  static void below(const uint32_t* words, int64_t count, uint64_t threshold, bool* to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) store(to + i, are_below(words + 2 * i, threshold));
    for (; i < count; ++i) to[i] = is_below(words + 2 * i, threshold);
  }

  static void dropout(const uint32_t* words, int64_t count, uint64_t threshold, float scale,
                      const float* in, bool* mask, float* out) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const Ints kept = are_below(words + 2 * i, threshold);
      store(out + i, load(in + i) * as_floats(kept & as_ints(Floats{} + scale)));
      store(mask + i, kept);
    }
    for (; i < count; ++i) {
      mask[i] = is_below(words + 2 * i, threshold);
      out[i] = in[i] * (mask[i] ? scale : 0);
    }
  }

  /// The Box-Muller transform of 8 pairs (data[i], data[8 + i]) at a time.
  static void normal(float* data, int64_t blocks, float mean, float deviation) {
    for (; blocks > 0; --blocks, data += 2 * kLanes) {
      const Floats radius = root(-2.0f * log(1.0f - load(data)));
      const SineCosine angle = sine_and_cosine(6.28318530717958647692f * load(data + kLanes));
      store(data, (radius * angle.cosine) * deviation + mean);
      store(data + kLanes, (radius * angle.sine) * deviation + mean);
    }
  }

 private:
  struct SineCosine {
    Floats sine, cosine;
  };

  /// The bits of the first word that count; the other 32 of 53 are the second word.
  static constexpr uint32_t kHighUnitBits = (uint32_t{1} << 21) - 1;

  HEARTH_FN static bool is_below(const uint32_t* words, uint64_t threshold) {
    return (uint64_t{words[0] & kHighUnitBits} << 32 | words[1]) < threshold;
  }
  /// All bits set where is_below is true, for a vector of pairs of words.
  HEARTH_FN static Ints are_below(const uint32_t* words, uint64_t threshold) {
    const Words a = load_words(words), b = load_words(words + kLanes);
    const Ints high = reinterpret_cast<Ints>(
        __builtin_shuffle(a, b, Words{0, 2, 4, 6, 8, 10, 12, 14}) & kHighUnitBits);
    const Words low = __builtin_shuffle(a, b, Words{1, 3, 5, 7, 9, 11, 13, 15});
    const int32_t limit = static_cast<int32_t>(threshold >> 32);
    return (high < limit) | ((high == limit) & (low < static_cast<uint32_t>(threshold)));
  }

  static int32_t signed_of(uint32_t);
  static int64_t signed_of(uint64_t);

  HEARTH_FN static Floats load(const float* from) {
    Floats value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
  }
  HEARTH_FN static void store(float* to, Floats value) {
    __builtin_memcpy(to, &value, sizeof(value));
  }
  HEARTH_FN static Words load_words(const uint32_t* from) {
    Words value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
  }
  /// Stores the lanes of a comparison.
  HEARTH_FN static void store(bool* to, Ints lanes) {
    const Bytes bytes = reinterpret_cast<Bytes>(lanes & 1);
    const Bytes packed = __builtin_shuffle(bytes, Bytes{0, 4, 8, 12, 16, 20, 24, 28});
    __builtin_memcpy(to, &packed, kLanes);
  }
  HEARTH_FN static Floats as_floats(Ints bits) { return reinterpret_cast<Floats>(bits); }
  HEARTH_FN static Ints as_ints(Floats value) { return reinterpret_cast<Ints>(value); }
  HEARTH_FN static Floats to_floats(Ints value) { return __builtin_convertvector(value, Floats); }

  HEARTH_FN static Floats root(Floats x) {
    for (int i = 0; i < kLanes; ++i) x[i] = __builtin_sqrtf(x[i]);
    return x;
  }

  /// Cephes' logf, for normal x > 0.
  HEARTH_FN static Floats log(Floats x) {
    Floats exponent = to_floats((as_ints(x) >> 23) - 126);
    x = as_floats((as_ints(x) & 0x007fffff) | 0x3f000000);  // in [0.5, 1)
    const Ints small = x < 0.707106781186547524f;
    exponent -= as_floats(as_ints(Floats{} + 1.0f) & small);
    x = (x - 1.0f) + as_floats(as_ints(x) & small);

    const Floats square = x * x;
    Floats sum = 7.0376836292e-2f * x + -1.1514610310e-1f;
    sum = sum * x + 1.1676998740e-1f;
    sum = sum * x + -1.2420140846e-1f;
    sum = sum * x + 1.4249322787e-1f;
    sum = sum * x + -1.6668057665e-1f;
    sum = sum * x + 2.0000714765e-1f;
    sum = sum * x + -2.4999993993e-1f;
    sum = sum * x + 3.3333331174e-1f;
    sum = sum * x;
    sum = sum * square + exponent * -2.12194440e-4f;
    sum = sum - square * 0.5f;
    return (x + sum) + exponent * 0.693359375f;
  }

  /// Cephes' sinf and cosf, for 0 <= x < 8192.
  HEARTH_FN static SineCosine sine_and_cosine(Floats x) {
    const Ints octant = (__builtin_convertvector(x * 1.27323954473516f, Ints) + 1) & ~1;
    const Floats quarters = to_floats(octant);
    x = quarters * -0.78515625f + x;
    x = quarters * -2.4187564849853515625e-4f + x;
    x = quarters * -3.77489497744594108e-8f + x;

    const Floats square = x * x;
    Floats cosine = 2.443315711809948e-5f * square + -1.388731625493765e-3f;
    cosine = cosine * square + 4.166664568298827e-2f;
    cosine = cosine * square;
    cosine = (cosine * square - square * 0.5f) + 1.0f;
    Floats sine = -1.9515295891e-4f * square + 8.3321608736e-3f;
    sine = sine * square + -1.6666654611e-1f;
    sine = sine * square;
    sine = sine * x + x;

    const Ints direct = (octant & 2) == 0;  // else sine and cosine are swapped
    const Ints sine_sign = (octant & 4) << 29;
    const Ints cosine_sign = (~(octant - 2) & 4) << 29;
    return {as_floats(as_ints(direct ? sine : cosine) ^ sine_sign),
            as_floats(as_ints(direct ? cosine : sine) ^ cosine_sign)};
  }
};

template <class Isa>
constexpr RandomLoops make_random_loops() {
  using V = RandomVectors<Isa>;
  return {&Mt19937Block<Isa, V::kLanes>::refill,
          &V::template uniform<uint32_t, float>,
          &V::template uniform<uint64_t, double>,
          &V::below,
          &V::dropout,
          &V::normal};
}

}  // namespace hearth::cpu
