#pragma once

#include <cstdint>

namespace hearth {

/// Computes all words of the Mersenne Twister's state at once, in vectors of kLanes words. `Target`
/// keeps the code of different instruction sets apart.
template <class Target, int kLanes>
struct Mt19937Block {
  static constexpr int kWords = 624;

  /// Replaces the state by the next one.
  static void twist(uint32_t* state) {
    twist_words(state, 0, kWords - kMiddle, kMiddle);
    twist_words(state, kWords - kMiddle, kWords - 1, kMiddle - kWords);
    state[kWords - 1] = twisted(state[kWords - 1], state[0], state[kMiddle - 1]);
  }
  /// Writes the random words of a state.
  static void temper(const uint32_t* state, uint32_t* output) {
    for (int i = 0; i < kWords; i += kLanes) store(output + i, tempered(load(state + i)));
  }
  static void refill(uint32_t* state, uint32_t* output) {
    twist(state);
    temper(state, output);
  }

 private:
  static constexpr int kMiddle = 397;  // the distance of the word that is mixed in
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));

  /// The recurrence, for one word or a vector.
  template <class W>
  static W twisted(W current, W following, W middle) {
    const W mixed = (current & 0x80000000u) | (following & 0x7fffffffu);
    return middle ^ (mixed >> 1) ^ (-(mixed & 1u) & 0x9908b0dfu);
  }
  static Words tempered(Words word) {
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
  }
  static Words load(const uint32_t* from) {
    Words words;
    __builtin_memcpy(&words, from, sizeof(words));
    return words;
  }
  static void store(uint32_t* to, Words words) { __builtin_memcpy(to, &words, sizeof(words)); }

  /// Twists words [begin, end); each is mixed with the word `distance` away.
  static void twist_words(uint32_t* state, int begin, int end, int distance) {
    int i = begin;
    for (; i + kLanes <= end; i += kLanes)
      store(state + i, twisted(load(state + i), load(state + i + 1), load(state + i + distance)));
    for (; i < end; ++i) state[i] = twisted(state[i], state[i + 1], state[i + distance]);
  }
};

}  // namespace hearth
