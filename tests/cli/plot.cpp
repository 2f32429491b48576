#include "apps/hearth/plot.h"

#include <cairo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tests/support/files.h"

namespace hearth::app {

namespace {

using testing::bytes_of;
using testing::TempFolder;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr unsigned kBlue = 0x0072b2, kOrange = 0xd55e00;

/// The pixels of a PNG file.
struct Picture {
  explicit Picture(const std::vector<Chart>& charts) {
    const TempFolder folder;
    write_png(folder.path("plot.png"), charts);
    cairo_surface_t* surface = cairo_image_surface_create_from_png(folder.path("plot.png").c_str());
    EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    EXPECT_EQ(cairo_image_surface_get_format(surface), CAIRO_FORMAT_RGB24);
    width = cairo_image_surface_get_width(surface);
    height = cairo_image_surface_get_height(surface);
    const unsigned char* data = cairo_image_surface_get_data(surface);
    const auto stride = size_t(cairo_image_surface_get_stride(surface));
    pixels.resize(size_t(width) * size_t(height));
    for (size_t y = 0; y < size_t(height); ++y)
      std::memcpy(&pixels[y * size_t(width)], data + y * stride, size_t(width) * sizeof(uint32_t));
    cairo_surface_destroy(surface);
  }

  /// The colour as 0xrrggbb.
  unsigned color_at(int x, int y) const {
    return pixels[size_t(y) * size_t(width) + size_t(x)] & 0xffffff;
  }

  int width = 0, height = 0;
  std::vector<uint32_t> pixels;
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
  std::vector<std::vector<int>> columns;
};

std::vector<Chart> one_chart(std::vector<Series> series) {
  return {{"Title", "x", "y", std::move(series)}};
}

TEST(Plot, DrawsChartsSideBySide) {
  const Picture one(one_chart({})), three({3, Chart{"a", "x", "y", {}}});
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
    const PixelsOfColor line(Picture(one_chart({{"", {0, 1, 2, 3, 4, 5}, {1, 1, gap, gap, 1, 1}}})),
                             kBlue);
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

TEST(Plot, BadInputKeepsTheOldFile) {
  const TempFolder folder;
  const std::string path = folder.path("plot.png");
  testing::write_bytes(path, "old");
  EXPECT_ERROR(write_png(path, {}), "there are no charts");
  EXPECT_ERROR(write_png(path, one_chart({{"a", {1, 2}, {1}}})), "'a' has 2 x and 1 y");
  EXPECT_ERROR(write_png(folder.path("none/plot.png"), one_chart({})), "none/plot.png");
  EXPECT_EQ(bytes_of(path), "old");
  write_png(path, one_chart({}));
  EXPECT_EQ(bytes_of(path).substr(1, 3), "PNG");
  EXPECT_EQ(folder.count(), 1);
}

}  // namespace

}  // namespace hearth::app
