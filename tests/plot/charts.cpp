// Charts that the plot plugin draws, by their pixels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/hearth.h"
#include "hearth/utils/plot.h"
#include "hearth/vision/image.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::testing {

namespace {

using utils::plot::Figure;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr unsigned kBlue = 0x0072b2, kOrange = 0xd55e00;

/// A line of a chart.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

/// The pixels of a figure.
struct Picture {
  explicit Picture(const Figure& figure)
      : image(figure.image()), width(int(image.size(2))), height(int(image.size(1))) {}

  /// The colour as 0xrrggbb.
  unsigned color_at(int x, int y) const {
    const auto* const bytes = image.data_ptr<uint8_t>();
    const auto plane = size_t(width) * size_t(height), at = size_t(y) * size_t(width) + size_t(x);
    return unsigned(bytes[at]) << 16 | unsigned(bytes[at + plane]) << 8 | bytes[at + 2 * plane];
  }

  Tensor image;
  int width, height;
};

/// The pixels of one colour above the row `end_row`, by default above the legend.
struct PixelsOfColor {
  PixelsOfColor(const Picture& picture, unsigned color, int end_row = 700) {
    for (int x = 0; x < picture.width; ++x)
      for (int y = 0; y < std::min(end_row, picture.height); ++y)
        if (picture.color_at(x, y) == color) {
          left = std::min(left, x);
          right = std::max(right, x);
          top = std::min(top, y);
          bottom = std::max(bottom, y);
          ++count;
          columns.resize(size_t(picture.width));
          columns[size_t(x)].push_back(y);
        }
  }

  double mean_row_in(int column) const {
    double sum = 0;
    for (const int y : columns[size_t(column)]) sum += y;
    return sum / double(columns[size_t(column)].size());
  }

  int left = 1 << 20, right = -1, top = 1 << 20, bottom = -1, count = 0;
  std::vector<std::vector<int>> columns;  // the rows of these pixels, for each column
};

Figure one_chart(const std::vector<Series>& series) {
  Figure figure;
  figure.axes().set_title("Title").set_xlabel("x").set_ylabel("y");
  for (const Series& line : series) figure.axes().plot(line.x, line.y, line.name);
  return figure;
}

TEST(Plot, DrawsChartsSideBySide) {
  const Picture one(one_chart({})), three(Figure(3));
  EXPECT_EQ(three.width, 3 * one.width);
  EXPECT_EQ(three.height, one.height);
  const Picture with_legend(one_chart({{"name", {1}, {1}}}));
  EXPECT_GT(with_legend.height, one.height);
}

TEST(Plot, LinesAreStraight) {
  const Picture picture(one_chart({{"", {0, 1, 2}, {5, 6, 7}}}));
  const PixelsOfColor line(picture, kBlue);
  ASSERT_GT(line.right - line.left, picture.width / 2);
  EXPECT_GT(line.bottom - line.top, picture.height / 2);
  const double first = line.mean_row_in(line.left + 20), last = line.mean_row_in(line.right - 20);
  EXPECT_GT(first, last + picture.height / 2.0);
  for (int part = 1; part < 8; ++part) {
    const int column = line.left + 20 + (line.right - line.left - 40) * part / 8;
    const double fraction = double(column - line.left - 20) / (line.right - line.left - 40);
    EXPECT_NEAR(line.mean_row_in(column), first + (last - first) * fraction, 2);
  }
}

TEST(Plot, LinesAreAntialiased) {
  const Picture picture(one_chart({{"", {0, 1}, {0, 0.1}}}));
  std::vector<unsigned> shades;
  for (int x = 200; x < picture.width - 100; ++x)
    for (int y = 100; y < 600; ++y) {
      const unsigned color = picture.color_at(x, y), red = color >> 16, blue = color & 255;
      if (blue > red) shades.push_back(red);
    }
  std::sort(shades.begin(), shades.end());
  shades.erase(std::unique(shades.begin(), shades.end()), shades.end());
  EXPECT_GT(shades.size(), 20);
}

TEST(Plot, NonFiniteValuesLeaveAGap) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double gap : {kNaN, infinity, -infinity}) {
    const Picture picture(one_chart({{"", {0, 1, 2, 3, 4, 5}, {1, 1, gap, gap, 1, 1}}}));
    const PixelsOfColor line(picture, kBlue);
    int empty = 0;
    for (int x = line.left; x <= line.right; ++x) empty += line.columns[size_t(x)].empty();
    EXPECT_NEAR(empty, 0.6 * (line.right - line.left), 30);
  }
}

TEST(Plot, SinglePointsAreDots) {
  const PixelsOfColor alone(Picture(one_chart({{"", {3}, {0.5}}})), kBlue);
  EXPECT_GT(alone.count, 50);
  EXPECT_NEAR(alone.right - alone.left, alone.bottom - alone.top, 1);
  EXPECT_LT(alone.right - alone.left, 16);
  std::vector<double> x(100), y(100, kNaN);
  for (size_t i = 0; i < x.size(); ++i) x[i] = double(i);
  y[50] = 1;
  EXPECT_NEAR(PixelsOfColor(Picture(one_chart({{"", x, y}})), kBlue).count, alone.count, 20);
}

TEST(Plot, LegendShowsTheColoursOfTheSeries) {
  const Picture picture(one_chart({{"first", {0, 1}, {0, 1}}, {"second", {0, 1}, {1, 0}}}));
  for (const unsigned color : {kBlue, kOrange}) {
    const PixelsOfColor in_plot(picture, color), in_picture(picture, color, picture.height);
    EXPECT_GT(in_plot.count, 500);
    EXPECT_GT(in_picture.count, in_plot.count + 100);
    EXPECT_GT(in_picture.bottom, 740);
  }
}

TEST(Plot, LongLegendsAreCut) {
  const auto series = [](int count) {
    std::vector<Series> result;
    for (int i = 0; i < count; ++i) result.push_back({"series " + std::to_string(i), {}, {}});
    return result;
  };
  const Picture some(one_chart(series(40))), many(one_chart(series(1000))),
      most(one_chart(series(10000)));
  EXPECT_GT(many.height, some.height);
  EXPECT_EQ(most.height, many.height);
}

TEST(Plot, EighthSeriesIsDashedInTheFirstColour) {
  std::vector<Series> series;
  for (int i = 0; i < 8; ++i) {
    Series line;
    for (int x = 0; x < 100; ++x) {
      line.x.push_back(x);
      line.y.push_back(i);
    }
    series.push_back(line);
  }
  const PixelsOfColor first_and_eighth(Picture(one_chart(series)), kBlue);
  int columns_with_one = 0, columns_with_both = 0;
  for (int x = first_and_eighth.left + 20; x < first_and_eighth.right - 20; ++x) {
    const auto& rows = first_and_eighth.columns[size_t(x)];
    const bool is_dash = rows.back() - rows.front() > 100;
    ++(is_dash ? columns_with_both : columns_with_one);
  }
  EXPECT_GT(columns_with_both, 300);
  EXPECT_GT(columns_with_one, 200);
}

TEST(Plot, EmptyChartsHaveAxes) {
  const Picture picture(one_chart({{"nothing", {}, {}}, {"no number", {1, 2}, {kNaN, kNaN}}}));
  const PixelsOfColor frame(picture, 0x6e6e6e);
  EXPECT_GT(frame.right - frame.left, picture.width / 2);
  EXPECT_GT(frame.bottom - frame.top, picture.height / 2);
  EXPECT_EQ(PixelsOfColor(picture, kBlue).count, 0);
}

TEST(Plot, DrawsHugeTinyAndEqualValues) {
  for (const double value : {0.0, 1e-300, 1e299, -1e299, 12345.678}) {
    const Picture picture(one_chart({{"", {value, value}, {value, value}}}));
    EXPECT_GT(PixelsOfColor(picture, kBlue).count, 0) << value;
  }
}

TEST(Plot, OmitsValuesOf1e300AndMore) {
  const Picture picture(one_chart({{"", {1e308, 1e308}, {1e308, 1e308}}}));
  EXPECT_EQ(PixelsOfColor(picture, kBlue).count, 0);
}

TEST(Plot, BarsStandSideBySideOnZero) {
  Figure figure;
  figure.axes().bar({"a", "b"}, {2, 4}, "first").bar({"a", "b"}, {1, 3}, "second");
  const Picture picture(figure);
  const PixelsOfColor blue(picture, kBlue), orange(picture, kOrange);
  EXPECT_EQ(blue.bottom, orange.bottom);
  EXPECT_LT(blue.left, orange.left);
  EXPECT_LT(blue.right, orange.right);
  // The heights of the bars, from their columns: 2 and 4, 1 and 3.
  const auto height_in = [](const PixelsOfColor& color, int column) {
    return int(color.columns[size_t(column)].size());
  };
  const double unit = height_in(blue, blue.right) / 4.0;
  EXPECT_GT(unit, 100);
  EXPECT_NEAR(height_in(blue, blue.left), 2 * unit, 2);
  EXPECT_NEAR(height_in(orange, orange.left), unit, 2);
  EXPECT_NEAR(height_in(orange, orange.right), 3 * unit, 2);
}

TEST(Plot, BarsBelowZeroHangFromIt) {
  Figure figure;
  figure.axes().bar({"up", "down", "gap"}, {1, -1, kNaN});
  const PixelsOfColor bars(Picture(figure), kBlue);
  const auto& up = bars.columns[size_t(bars.left)];
  const auto& down = bars.columns[size_t(bars.right)];
  EXPECT_NEAR(double(up.size()), double(down.size()), 3);
  EXPECT_NEAR(up.back(), down.front(), 4);  // the line at 0 between them
}

TEST(Plot, LongNamesOfBarsMakeThePictureHigher) {
  Figure few, many;
  few.axes().bar({"a", "b"}, {1, 2});
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("a long name " + std::to_string(i));
  many.axes().bar(names, arange(100));
  EXPECT_GT(many.image().size(1), few.image().size(1) + 60);
}

TEST(Plot, PointsAreNotConnected) {
  Figure figure;
  figure.axes().scatter({0, 1, 2, 2}, {0, 1, 0, kNaN});
  const PixelsOfColor points(Picture(figure), kBlue);
  int runs = 0;
  for (size_t x = 1; x < points.columns.size(); ++x)
    runs += !points.columns[x].empty() && points.columns[x - 1].empty();
  EXPECT_EQ(runs, 3);
  EXPECT_GT(points.right - points.left, 500);
}

TEST(Plot, LargerValuesHaveDarkerCells) {
  Figure figure;
  figure.axes().heatmap(tensor({0.0, 1.0, 2.0, kNaN}).view({2, 2})).set_title("cells");
  const Picture picture(figure);
  // In pixels, cells are 92 wide and high, and begin 120 from the left and 176 from the top edge.
  const auto cell = [&](int row, int column) {
    return picture.color_at(120 + 92 * column + 6, 176 + 92 * row + 6);
  };
  EXPECT_EQ(cell(0, 0), 0xffffffu);
  EXPECT_EQ(cell(0, 1), 0x80a5beu);  // halfway to the darkest, 0x004a7c
  EXPECT_EQ(cell(1, 0), 0x004a7cu);
  EXPECT_EQ(cell(1, 1), 0xc8c8c8u);
}

TEST(Plot, ConfusionMatrixIsShadedByTheShareOfTheRow) {
  Figure figure;
  figure.axes().confusion_matrix(tensor({3, 1, 0, 100}).view({2, 2}), {"cat", "dog"});
  EXPECT_EQ(figure.axes().chart().x_label, "predicted");
  const auto& cells = *figure.axes().chart().cells;
  EXPECT_EQ(cells.shades, (std::vector<double>{0.75, 0.25, 0, 1}));
  EXPECT_EQ(cells.texts, (std::vector<std::string>{"3", "1", "", "100"}));
  EXPECT_GT(figure.image().size(2), 300);
}

TEST(Plot, TensorsOfAnyDtypeAndStrideAreNumbers) {
  const Tensor x = arange(6, kLong).view({2, 3}).t();
  EXPECT_EQ(utils::plot::Values(x).vec(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(utils::plot::Values(tensor({0.5f}).to(kHalf).requires_grad_()).vec(),
            std::vector<double>{0.5});
}

TEST(Plot, BadInputIsRefused) {
  Figure figure(2);
  EXPECT_ERROR(figure.axes(2), "axes index 2 is out of range for a figure with 2 of them");
  EXPECT_ERROR(Figure(0), "a figure has at least one chart, but got 0");
  utils::plot::Axes& axes = figure.axes();
  EXPECT_ERROR(axes.plot({1, 2}, {1}, "a"),
               "x and y must have same first dimension, but 'a' has 2 x and 1 y");
  EXPECT_ERROR(axes.bar({"a"}, {1, 2}), "bar: there are 1 names, but 2 heights");
  axes.bar({"a"}, {1});
  EXPECT_ERROR(axes.bar({"b"}, {1}), "must have the same names");
  EXPECT_ERROR(axes.heatmap(ones({2, 2})), "cannot have a matrix");
  utils::plot::Axes& other = figure.axes(1);
  EXPECT_ERROR(other.heatmap(ones({2})), "expected a matrix [rows, columns]");
  EXPECT_ERROR(other.heatmap(Tensor()), "with elements, but got an undefined tensor");
  EXPECT_ERROR(other.heatmap(ones({2, 3}), {"a"}), "a matrix with 2 rows was given 1 names");
  EXPECT_ERROR(other.confusion_matrix(ones({2, 3})), "[classes, classes], but got [2, 3]");
  EXPECT_ERROR(other.confusion_matrix(-ones({2, 2})), "a confusion matrix has counts, but got -1");
  other.heatmap(ones({2, 3}));
  EXPECT_ERROR(other.plot({1}, {1}), "a chart with a matrix cannot have lines");
  EXPECT_ERROR(other.scatter(ones({1}).to(kComplexFloat), {1}), "cannot show complex numbers");
  EXPECT_ERROR(Figure(30).png(), "a picture has at most 29 charts, but there are 30");
}

TEST(Plot, AFailureKeepsTheOldFile) {
  const TempFolder folder;
  const std::string path = folder.path("plot.png");
  write_bytes(path, "old");
  EXPECT_ERROR(Figure(30).savefig(path), "a picture has at most 29 charts");
  EXPECT_ERROR(Figure().savefig(folder.path("none/plot.png")), "none/plot.png");
  EXPECT_EQ(bytes_of(path), "old");
  Figure().savefig(path);
  EXPECT_EQ(bytes_of(path).substr(1, 3), "PNG");
  EXPECT_EQ(folder.count(), 1);
}

}  // namespace

}  // namespace hearth::testing
