// The ticks of axes, and lines of many points.
#include "plot/cairo/axis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plot/cairo/thinned.h"

namespace hearth::utils::plot {

namespace {

std::string labels(const std::vector<double>& values, int max_ticks = 6) {
  const Axis axis(values, max_ticks);
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
  // Values far from 0, whose range is small.
  EXPECT_EQ(labels({1000000, 1000600}), "1e+06 1.0002e+06 1.0004e+06 1.0006e+06");
  EXPECT_EQ(labels({0.693147, 0.693153}), "0.693148 0.69315 0.693152");
}

TEST(Axis, WholeNumbersHaveWholeTicks) {
  EXPECT_EQ(labels({1, 2, 3}), "1 2 3");
  EXPECT_EQ(labels({1}), "1");
}

TEST(Axis, CoversAllValuesAndAMargin) {
  const Axis axis({2.5, -7, 4}, 6);
  EXPECT_GT(axis.fraction(-7), 0.01);
  EXPECT_LT(axis.fraction(4), 0.99);
  EXPECT_DOUBLE_EQ(axis.fraction(-1.5), 0.5);
  for (const Axis::Tick& tick : axis.ticks()) {
    EXPECT_GE(axis.fraction(tick.value), 0);
    EXPECT_LE(axis.fraction(tick.value), 1);
  }
}

TEST(Axis, NoValuesAndOneValue) {
  EXPECT_EQ(labels({}), "0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_NEAR(Axis({0.25, 0.25}, 6).fraction(0.25), 0.5, 1e-12);
}

TEST(Axis, TheSmallestNumbersHaveARange) {
  constexpr double kSmallest = 5e-324;
  for (const std::vector<double>& values :
       {std::vector{kSmallest, kSmallest}, {0, kSmallest}, {kSmallest, 3 * kSmallest}}) {
    EXPECT_NE(labels(values), "");
    for (const double value : values)
      EXPECT_NEAR(Axis(values, 6).fraction(value), 0.5, 0.1) << value;
  }
}

TEST(Thinned, ManyPointsAreThinned) {
  Polyline line;
  for (int i = 0; i < 60000; ++i) line.push_back({i * 0.005, double(i * 7919L % 10007)});
  line[31234].y = -5;
  line[45678].y = 20000;
  const Polyline few = thinned(line, 0.5);
  EXPECT_LE(few.size(), 2 * 600 + 2u);
  const auto has = [&](const Point& wanted) {
    return std::ranges::any_of(few,
                               [&](const Point& p) { return p.x == wanted.x && p.y == wanted.y; });
  };
  for (const size_t i : {0, 31234, 45678, 59999}) EXPECT_TRUE(has(line[i])) << i;
  for (size_t i = 1; i < few.size(); ++i) EXPECT_LT(few[i - 1].x, few[i].x);
  EXPECT_EQ(thinned({{1, 2}, {1, 3}}, 5).size(), 2u);
  EXPECT_TRUE(thinned({}, 5).empty());
}

}  // namespace

}  // namespace hearth::utils::plot
