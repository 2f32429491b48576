#include "core/mt19937.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace hearth {
namespace {

TEST(Mt19937, MatchesStdMt19937) {
  for (const uint32_t seed : {0u, 42u, 5489u, 0xffffffffu}) {
    Mt19937 ours(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(ours.random(), standard()) << seed << " " << i;
  }
}

TEST(Mt19937, UsesLowerHalfOfSeed) {
  Mt19937 ours((uint64_t{7} << 32) + 42);
  EXPECT_EQ(ours.random(), Mt19937(42).random());
  EXPECT_EQ(ours.seed(), (uint64_t{7} << 32) + 42);
}

TEST(Mt19937, FillMatchesSingleDraws) {
  Mt19937 one(1), many(1);
  for (const int64_t count : {1, 5, 623, 624, 625, 2000}) {
    std::vector<uint32_t> words(static_cast<size_t>(count));
    many.fill(words.data(), count);
    for (const uint32_t word : words) ASSERT_EQ(word, one.random());
    std::vector<uint64_t> wide(static_cast<size_t>(count));
    many.fill(wide.data(), count);
    for (const uint64_t word : wide) ASSERT_EQ(word, one.random64());
  }
}

TEST(Mt19937, DiscardMatchesStdMt19937) {
  Mt19937 ours(3);
  std::mt19937 standard(3);
  for (const int count : {0, 1, 622, 1, 623, 624, 625, 1248, 5000, 3}) {
    ours.discard(count);
    standard.discard(static_cast<unsigned>(count));
    ASSERT_EQ(ours.random(), standard()) << count;
  }
}

TEST(Mt19937, NormalsAreBoxMullerPairs) {
  Mt19937 ours(42), words(42);
  for (int pair = 0; pair < 100; ++pair) {
    const long double angle = 2 * std::acos(-1.0L) * words.uniform();
    const long double radius =
        std::sqrt(-2 * std::log(1 - static_cast<long double>(words.uniform())));
    EXPECT_NEAR(ours.normal(), static_cast<double>(radius * std::cos(angle)), 1e-14);
    EXPECT_NEAR(ours.normal(), static_cast<double>(radius * std::sin(angle)), 1e-14);
  }
}

TEST(Mt19937, ResumesFromState) {
  Mt19937 original(42);
  for (const int draws : {0, 1, 623, 1, 100}) {
    for (int i = 0; i < draws; ++i) original.random();
    Mt19937 copy(7);
    ASSERT_TRUE(copy.set_state(original.state()));
    EXPECT_EQ(copy.seed(), 42u);
    for (int i = 0; i < 1300; ++i) ASSERT_EQ(copy.random(), original.random());
  }
  original.normal();  // caches the second of its pair
  Mt19937 copy(7);
  copy.set_state(original.state());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(copy.normal(), original.normal());
}

template <class T>
T read(const Mt19937::StateBytes& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// PyTorch's get_state() after manual_seed(42) and three numbers from normal_().
TEST(Mt19937, StateHasPyTorchLayout) {
  Mt19937 generator(42);
  for (int i = 0; i < 3; ++i) generator.normal();
  const Mt19937::StateBytes bytes = generator.state();
  EXPECT_EQ(read<uint64_t>(bytes, 0), 42u);
  EXPECT_EQ(read<int32_t>(bytes, 8), 617);                   // left
  EXPECT_EQ(read<int32_t>(bytes, 12), 1);                    // seeded
  EXPECT_EQ(read<uint64_t>(bytes, 16), 8u);                  // next
  EXPECT_NEAR(read<double>(bytes, 5024), 0.23033303, 1e-8);  // normal_y
  EXPECT_EQ(read<int32_t>(bytes, 5040), 1);                  // normal_is_valid
}

TEST(Mt19937, RejectsInvalidState) {
  Mt19937 generator(42);
  generator.random();
  Mt19937::StateBytes bytes = generator.state();
  bytes[12] = 0;  // not seeded
  EXPECT_FALSE(generator.set_state(bytes));
  bytes = generator.state();
  bytes[9] = 0x7f;  // more words left than the state holds
  EXPECT_FALSE(generator.set_state(bytes));
  Mt19937 undisturbed(42);
  undisturbed.random();
  EXPECT_EQ(generator.random(), undisturbed.random());
}

}  // namespace
}  // namespace hearth
