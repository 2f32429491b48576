// Heat maps with many cells, by their pixels.
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "hearth/hearth.h"
#include "hearth/utils/plot.h"

namespace hearth::testing {
namespace {

using utils::plot::Figure;

constexpr int64_t kEdge = 120;   // the pixels to the left of the cells, and above them
constexpr int64_t kMargin = 32;  // the pixels to the right of the cells, and below them
constexpr unsigned kWhite = 0xffffff, kMiddle = 0x80a5be, kDark = 0x004a7c, kGrey = 0xc8c8c8;

Tensor picture_of(const Tensor& matrix) {
  Figure figure;
  figure.axes().heatmap(matrix);
  return figure.image();
}

/// The cells of a picture [3, height, width].
struct Cells {
  explicit Cells(const Tensor& picture)
      : image(picture),
        height(picture.size(1) - kEdge - kMargin),
        width(picture.size(2) - kEdge - kMargin) {}
  /// The colour of a pixel as 0xrrggbb; pixel (0, 0) is the first of the first cell.
  unsigned at(int64_t row, int64_t column) const {
    const auto* const bytes = image.data_ptr<uint8_t>();
    const int64_t plane = image.size(1) * image.size(2),
                  place = (kEdge + row) * image.size(2) + kEdge + column;
    return unsigned(bytes[place]) << 16 | unsigned(bytes[place + plane]) << 8 |
           bytes[place + 2 * plane];
  }

  Tensor image;
  int64_t height, width;
};

/// 0 and 1 alternating, like the squares of a chessboard.
Tensor chessboard(int64_t rows, int64_t columns) {
  return (arange(rows).unsqueeze(1) + arange(columns)).remainder(2).to(kFloat);
}

// The frame covers a pixel of the cells at each edge.
TEST(HeatMaps, CellsAreSquaresOfWholePixels) {
  for (const auto& [count, side] : {std::pair<int64_t, int64_t>{31, 24}, {160, 24}, {700, 5}}) {
    const Cells cells(picture_of(chessboard(count, count)));
    ASSERT_EQ(cells.width, count * side);
    ASSERT_EQ(cells.height, count * side);
    int64_t wrong = 0;
    for (int64_t row = 1; row < cells.height - 1; ++row)
      for (int64_t column = 1; column < cells.width - 1; ++column)
        wrong += cells.at(row, column) != ((row / side + column / side) % 2 ? kDark : kWhite);
    EXPECT_EQ(wrong, 0) << count;
  }
}

TEST(HeatMaps, TheSideFollowsTheLongerDimension) {
  const Cells cells(picture_of(chessboard(3, 400)));
  EXPECT_EQ(cells.height, 3 * 10);
  EXPECT_EQ(cells.width, 400 * 10);
}

TEST(HeatMaps, PixelsShowMeansOfManyCells) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor matrix = zeros({4, 12000}, kDouble);
  matrix[1] = arange(12000).remainder(3) / 2;          // 0, 0.5, 1: the mean is 0.5
  matrix[2] = tensor({0.0, 1.0, nan}).repeat({4000});  // values that are not finite do not count
  matrix[3] = full({12000}, nan, kDouble);
  matrix[3].narrow(0, 6000, 6000).fill_(1);
  const Cells cells(picture_of(matrix));
  ASSERT_EQ(cells.height, 4);
  ASSERT_EQ(cells.width, 4000);
  for (const int64_t column : {10, 1000, 3990}) {
    EXPECT_EQ(cells.at(1, column), kMiddle) << column;
    EXPECT_EQ(cells.at(2, column), kMiddle) << column;
  }
  EXPECT_EQ(cells.at(2, 1999), kMiddle);
  const Cells other(picture_of(matrix.narrow(0, 3, 1).repeat({4, 1})));
  EXPECT_EQ(other.at(1, 1000), kGrey);
  EXPECT_EQ(other.at(1, 1999), kGrey);
}

TEST(HeatMaps, EachCellBelongsToOnePixel) {
  constexpr int64_t kCells = 9001, kPixels = 4000;
  for (const int64_t dark : {5, 4500, 8990}) {
    Tensor matrix = zeros({4, kCells}, kFloat);
    matrix.select(1, dark).fill_(1);
    const Cells cells(picture_of(matrix));
    ASSERT_EQ(cells.width, kPixels);
    std::vector<int64_t> shaded;
    for (int64_t column = 1; column < kPixels - 1; ++column)
      if (cells.at(1, column) != kWhite) shaded.push_back(column);
    ASSERT_EQ(shaded.size(), 1u) << dark;
    EXPECT_NEAR(double(shaded[0]), double(dark) * kPixels / kCells, 1);
  }
}

TEST(HeatMaps, OnlyFewCellsHaveTexts) {
  Figure figure(2);
  figure.axes(0).heatmap(ones({30, 30}));
  figure.axes(1).heatmap(ones({2, 31}));
  EXPECT_EQ(figure.axes(0).chart().cells->texts.size(), 900u);
  EXPECT_EQ(figure.axes(1).chart().cells->texts.size(), 0u);
  figure = Figure(2);
  figure.axes(0).confusion_matrix(ones({30, 30}));
  figure.axes(1).confusion_matrix(ones({31, 31}));
  EXPECT_EQ(figure.axes(0).chart().cells->texts.size(), 900u);
  EXPECT_EQ(figure.axes(1).chart().cells->texts.size(), 0u);
}

}  // namespace
}  // namespace hearth::testing
