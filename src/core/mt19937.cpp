#include "core/mt19937.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/mt19937_block.h"

namespace hearth {

namespace {

struct Portable;
using Block = Mt19937Block<Portable, 4>;
typedef uint32_t Words4 __attribute__((vector_size(16)));

/// PyTorch's layout of a generator's state.
struct LegacyState {
  uint64_t seed;
  int32_t left;  // words until the next refill, plus 1
  int32_t seeded;
  uint64_t next;
  uint64_t words[624];
  double normal_x;
  double normal_y;  // the stored normal number
  double normal_rho;
  int32_t normal_is_valid;
  int32_t padding;
  float next_float_normal;
  int32_t next_float_normal_is_valid;
};
static_assert(sizeof(LegacyState) == Mt19937::kStateBytes);

}  // namespace

void Mt19937::reseed(uint64_t seed) {
  seed_ = seed;
  state_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kWords; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  next_ = kWords;
  next_normal_.reset();
}

void Mt19937::refill(Refill how) {
  how(state_.data(), output_.data());
  next_ = 0;
}

void Mt19937::discard(int64_t count) {
  if (count <= kWords - next_) {
    next_ += static_cast<int>(count);
    return;
  }
  count -= kWords - next_;
  for (; count > kWords; count -= kWords) Block::twist(state_.data());
  refill();
  next_ = static_cast<int>(count);
}

void Mt19937::refill() { refill(&Block::refill); }

void Mt19937::fill(uint32_t* to, int64_t count) { fill(to, count, &Block::refill); }
void Mt19937::fill(uint64_t* to, int64_t count) { fill(to, count, &Block::refill); }

void Mt19937::fill(uint32_t* to, int64_t count, Refill how) {
  while (count > 0) {
    if (next_ == kWords && count >= kWords) {  // output_ is not needed
      how(state_.data(), to);
      to += kWords;
      count -= kWords;
      continue;
    }
    if (next_ == kWords) refill(how);
    const int64_t taken = std::min<int64_t>(count, kWords - next_);
    std::memcpy(to, output_.data() + next_, static_cast<size_t>(taken) * sizeof(uint32_t));
    next_ += static_cast<int>(taken);
    to += taken;
    count -= taken;
  }
}

void Mt19937::fill(uint64_t* to, int64_t count, Refill how) {
  uint32_t* const words = reinterpret_cast<uint32_t*>(to);
  fill(words, 2 * count, how);
  // As in random64(), the first of two words is the higher half, which memory stores last.
  const int64_t pairs = count / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    Words4 swapped;
    std::memcpy(&swapped, to + 2 * i, sizeof(swapped));
    swapped = __builtin_shuffle(swapped, Words4{1, 0, 3, 2});
    std::memcpy(to + 2 * i, &swapped, sizeof(swapped));
  }
  if (count % 2) to[count - 1] = to[count - 1] << 32 | to[count - 1] >> 32;
}

double Mt19937::uniform() {
  return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

double Mt19937::normal() {
  if (next_normal_) {
    const double stored = *next_normal_;
    next_normal_.reset();
    return stored;
  }
  const double angle = 2 * std::numbers::pi * uniform();
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  next_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

Mt19937::StateBytes Mt19937::state() const {
  LegacyState legacy{};
  legacy.seed = seed_;
  legacy.seeded = 1;
  legacy.left = kWords + 1 - next_;
  legacy.next = static_cast<uint64_t>(next_);
  std::copy(state_.begin(), state_.end(), legacy.words);
  legacy.normal_y = next_normal_.value_or(0);
  legacy.normal_is_valid = next_normal_.has_value();
  StateBytes bytes;
  std::memcpy(bytes.data(), &legacy, sizeof(legacy));
  return bytes;
}

bool Mt19937::set_state(const StateBytes& bytes) {
  LegacyState legacy;
  std::memcpy(&legacy, bytes.data(), sizeof(legacy));
  const bool valid = legacy.seeded == 1 && legacy.left >= 1 && legacy.left <= kWords;
  if (!valid) return false;
  seed_ = legacy.seed;
  std::copy(std::begin(legacy.words), std::end(legacy.words), state_.begin());
  next_ = kWords + 1 - legacy.left;
  Block::temper(state_.data(), output_.data());
  next_normal_.reset();
  if (legacy.normal_is_valid) next_normal_ = legacy.normal_y;
  return true;
}

}  // namespace hearth
