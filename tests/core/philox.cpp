#include "core/philox.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace hearth {
namespace {

void expect_words(const PhiloxBlock& block, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  EXPECT_EQ(block.words[0], a);
  EXPECT_EQ(block.words[1], b);
  EXPECT_EQ(block.words[2], c);
  EXPECT_EQ(block.words[3], d);
}

// The published known answers for philox4x32 with 10 rounds.
TEST(Philox, MatchesKnownAnswers) {
  constexpr uint32_t ones = 0xffffffffu;
  expect_words(philox_rounds({{0, 0, 0, 0}}, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  expect_words(philox_rounds({{ones, ones, ones, ones}}, ones, ones),  //
               0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect_words(
      philox_rounds({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
      0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(Philox, CounterLayoutMatchesCurand) {
  const PhiloxBlock block =
      philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x2468acf048d159e4ull * 4);
  const PhiloxBlock expected =
      philox_rounds({{0x48d159e4, 0x2468acf0, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0);
  EXPECT_TRUE(block.words[0] == expected.words[0] && block.words[3] == expected.words[3]);
}

TEST(Philox, ConsecutiveElementsShareABlock) {
  const PhiloxBlock block = philox(7, 3, 8);
  EXPECT_EQ((philox_bits<uint32_t>(7, 8, 12)), block.words[0]);
  EXPECT_EQ((philox_bits<uint32_t>(7, 8, 15)), block.words[3]);
  EXPECT_EQ((philox_bits<uint64_t>(7, 8, 7)), uint64_t{block.words[2]} << 32 | block.words[3]);
  EXPECT_EQ((philox_bits<PhiloxBlock>(7, 8, 3)).words[1], block.words[1]);
}

}  // namespace
}  // namespace hearth
