// SummaryWriter::add_figure.
#include <gtest/gtest.h>

#include <filesystem>

#include "hearth/hearth.h"
#include "hearth/utils/tensorboard.h"
#include "hearth/vision/image.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using utils::plot::Figure;
using utils::tensorboard::SummaryWriter;

/// The pictures in the event files of a folder: PNG files inside of the records.
std::vector<Tensor> pictures_in(const std::string& folder) {
  std::vector<Tensor> pictures;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string bytes = bytes_of(entry.path());
    for (size_t at = 0; (at = bytes.find("\x89PNG", at)) != std::string::npos; ++at) {
      const auto end = static_cast<int64_t>(bytes.find("IEND", at) + 8 - at);
      pictures.push_back(vision::decode_image(from_blob(bytes.data() + at, {end}, kByte).clone()));
    }
  }
  return pictures;
}

Figure figure_of(double slope) {
  Figure figure;
  figure.axes().plot({0, 1}, {0, slope}, "line");
  return figure;
}

TEST(Figures, TheWriterLogsThePicture) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    Figure figure = figure_of(1);
    writer.add_figure("a", figure, 3);
    figure.axes().plot({0, 1}, {1, 0});  // after the call, so it is not in the picture
  }
  const std::vector<Tensor> pictures = pictures_in(folder.str());
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_TRUE(pictures[0].equal(figure_of(1).image()));
}

TEST(Figures, SeveralBecomeAGrid) {
  const TempFolder folder;
  const Figure one = figure_of(1), two(2);
  {
    SummaryWriter writer(folder.str());
    writer.add_figure("a", {one, two});
  }
  const std::vector<Tensor> pictures = pictures_in(folder.str());
  ASSERT_EQ(pictures.size(), 1u);
  const Tensor first = one.image(), second = two.image(), grid = pictures[0];
  const int64_t width = second.size(2), height = first.size(1);  // the largest of each
  ASSERT_EQ(grid.sizes(), (std::vector<int64_t>{3, height, 2 * width}));
  EXPECT_TRUE(grid.narrow(2, 0, first.size(2)).equal(first));
  EXPECT_TRUE(grid.narrow(2, width, width).narrow(1, 0, second.size(1)).equal(second));
  EXPECT_TRUE(grid.narrow(2, first.size(2), width - first.size(2)).eq(255).all().item<bool>());
}

TEST(Figures, BadInputIsRefused) {
  const TempFolder folder;
  SummaryWriter writer(folder.str());
  EXPECT_ERROR(writer.add_figure("a", std::vector<Figure>()), "add_figure was given no figures");
  EXPECT_ERROR(writer.add_figure("\xff", figure_of(1)), "The tag");
}

}  // namespace
}  // namespace hearth::testing
