#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hearth {

/// The Mersenne twister of the CPU's generators. With the same seed it draws the same numbers as
/// PyTorch.
class Mt19937 {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;
  /// Bytes of PyTorch's get_rng_state.
  static constexpr size_t kStateBytes = 5056;
  using StateBytes = std::array<unsigned char, kStateBytes>;
  static constexpr int kWords = 624;  ///< of the state; so many random words are computed at once

  explicit Mt19937(uint64_t seed = kDefaultSeed) { reseed(seed); }

  /// Restarts from the lower 32 bits of the seed.
  void reseed(uint64_t seed);
  uint64_t seed() const { return seed_; }

  uint32_t random() {
    if (next_ == kWords) refill();
    return output_[next_++];
  }
  /// Two random words, the higher one first.
  uint64_t random64() {
    const uint64_t high = random();
    return high << 32 | random();
  }
  /// The same numbers as `count` calls of random() or random64().
  void fill(uint32_t* to, int64_t count);
  void fill(uint64_t* to, int64_t count);
  /// The same; `how` computes the next state and its output (core/mt19937_block.h), with the widest
  /// vectors that the processor has.
  using Refill = void (*)(uint32_t* state, uint32_t* output);
  void fill(uint32_t* to, int64_t count, Refill how);
  void fill(uint64_t* to, int64_t count, Refill how);

  /// The number of random words that are computed already.
  int unread() const { return kWords - next_; }

  /// Advances as `count` calls of random() do, in a fraction of their time.
  void discard(int64_t count);

  /// A number from [0, 1) with 53 random bits.
  double uniform();
  /// A number from the standard normal distribution. Numbers are computed in pairs; the second one
  /// is stored for the next call.
  double normal();

  /// The state in PyTorch's layout, which PyTorch's generators can restore.
  StateBytes state() const;
  /// Restores a state; returns false and changes nothing if the bytes are not a valid state.
  bool set_state(const StateBytes& bytes);

 private:
  void refill(Refill how);
  void refill();

  uint64_t seed_;
  int next_;
  std::array<uint32_t, kWords> state_;
  std::array<uint32_t, kWords> output_;  // the random words computed from the state
  std::optional<double> next_normal_;
};

}  // namespace hearth
