#include <gtest/gtest.h>

#include "apps/hearth/plot/axis.h"
#include "apps/hearth/plot/lettering.h"

namespace hearth::app {

namespace {

std::string labels(const std::vector<double>& values, int most_ticks = 6) {
  const Axis axis(values, most_ticks);
  std::string text;
  for (const Axis::Tick& tick : axis.ticks()) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

TEST(Axis, TicksAreRound) {
  EXPECT_EQ(labels({0.13, 0.87}), "0.2 0.4 0.6 0.8");
  EXPECT_EQ(labels({-1.5, 1.5}), "-1 0 1");
  EXPECT_EQ(labels({0, 60000}), "0 20000 40000 60000");
  EXPECT_EQ(labels({0.5, 4e7}), "0 1e+07 2e+07 3e+07 4e+07");
  EXPECT_EQ(labels({1e-7, 9e-7}), "2e-07 4e-07 6e-07 8e-07");
}

TEST(Axis, WholeNumbersHaveNoTicksBetween) {
  EXPECT_EQ(labels({1, 2, 3}), "1 2 3");
  EXPECT_EQ(labels({1}), "1");
}

TEST(Axis, HoldsAllValuesAndALittleMore) {
  const Axis axis({2.5, -7, 4}, 6);
  EXPECT_GT(axis.share(-7), 0.01);
  EXPECT_LT(axis.share(4), 0.99);
  EXPECT_DOUBLE_EQ(axis.share(-1.5), 0.5);
  for (const Axis::Tick& tick : axis.ticks()) {
    EXPECT_GE(axis.share(tick.value), 0);
    EXPECT_LE(axis.share(tick.value), 1);
  }
}

TEST(Axis, OfNothingAndOfOneValue) {
  EXPECT_EQ(labels({}), "0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_NEAR(Axis({0.25, 0.25}, 6).share(0.25), 0.5, 1e-12);
}

TEST(Lettering, EveryCharacterHasStrokesInItsPlace) {
  for (char letter = '!'; letter <= '~'; ++letter) {
    const std::string text(1, letter);
    const std::vector<Polyline> strokes = lettering(text, 12);
    EXPECT_FALSE(strokes.empty()) << text;
    for (const Polyline& stroke : strokes) {
      EXPECT_FALSE(stroke.empty()) << text;
      for (const Point p : stroke) {
        EXPECT_GE(p.x, 0) << text;
        EXPECT_LE(p.x, length_of(text, 12)) << text;
        EXPECT_GE(p.y, -12) << text;
        EXPECT_LE(p.y, 4) << text;
      }
    }
  }
}

TEST(Lettering, CapitalsAreAsHighAsAsked) {
  const std::vector<Polyline> strokes = lettering("H", 9);
  EXPECT_DOUBLE_EQ(strokes[0].front().y, -9);
  EXPECT_DOUBLE_EQ(strokes[0].back().y, 0);
}

TEST(Lettering, DigitsAreEquallyWide) {
  for (char digit = '0'; digit <= '9'; ++digit)
    EXPECT_DOUBLE_EQ(length_of(std::string(1, digit), 12), length_of("0", 12));
}

TEST(Lettering, OneBoxForEachUnknownCharacter) {
  EXPECT_EQ(lettering("é", 12).size(), 1);
  EXPECT_EQ(lettering("é漢", 12).size(), 2);
  EXPECT_GT(length_of("é漢", 12), length_of("é", 12));
  EXPECT_EQ(length_of("", 12), 0);
}

}  // namespace

}  // namespace hearth::app
