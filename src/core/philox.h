#pragma once

// Shared with CUDA kernels, so without the standard library.

#include "functors/hd.h"

namespace hearth {

/// Four random words.
struct PhiloxBlock {
  unsigned words[4];
};

/// Philox 4x32-10 (Salmon et al., 2011), which maps a counter and a key to random words.
HEARTH_FN PhiloxBlock philox_rounds(PhiloxBlock counter, unsigned key0, unsigned key1) {
  PhiloxBlock c = counter;
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.words[0];
    const unsigned long long b = 0xCD9E8D57ull * c.words[2];
    c = {{static_cast<unsigned>(b >> 32) ^ c.words[1] ^ key0, static_cast<unsigned>(b),
          static_cast<unsigned>(a >> 32) ^ c.words[3] ^ key1, static_cast<unsigned>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

/// The first four words of a curandStatePhilox4_32_10 that is initialised with these numbers. The
/// offset counts words and has to be a multiple of four.
HEARTH_FN PhiloxBlock philox(unsigned long long seed, unsigned long long subsequence,
                             unsigned long long offset) {
  const unsigned long long step = offset / 4;
  const PhiloxBlock counter{{static_cast<unsigned>(step), static_cast<unsigned>(step >> 32),
                             static_cast<unsigned>(subsequence),
                             static_cast<unsigned>(subsequence >> 32)}};
  return philox_rounds(counter, static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
}

/// The seed and the offset of a launch.
struct PhiloxKey {
  unsigned long long seed, offset;
};

/// The key of a RandomSource without a Mersenne twister. Call it where the kernel runs, because a
/// graph's memory is on the device.
template <class Source>
HEARTH_FN PhiloxKey philox_key(const Source& source) {
  if (source.graph == nullptr) return {source.seed, source.offset};
  return {source.graph[0], source.graph[1] + source.offset};
}

/// The number of values of type Bits (32-bit words, 64-bit words or whole blocks) in a block.
template <class Bits>
inline constexpr int kPhiloxLanes = static_cast<int>(sizeof(PhiloxBlock) / sizeof(Bits));

/// Value `lane` of a block.
template <class Bits>
HEARTH_FN Bits philox_lane(const PhiloxBlock& block, int lane) {
  if constexpr (sizeof(Bits) == 4)
    return block.words[lane];
  else if constexpr (sizeof(Bits) == 8)
    return static_cast<Bits>(block.words[2 * lane]) << 32 | block.words[2 * lane + 1];
  else
    return block;
}

/// Element i of the stream (seed, offset). A random op draws all its elements at one offset; then
/// the generator's offset advances by four.
template <class Bits>
HEARTH_FN Bits philox_bits(unsigned long long seed, unsigned long long offset,
                           unsigned long long i) {
  constexpr int lanes = kPhiloxLanes<Bits>;
  return philox_lane<Bits>(philox(seed, i / lanes, offset), static_cast<int>(i % lanes));
}

}  // namespace hearth
