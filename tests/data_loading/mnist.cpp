#include "hearth/data/mnist.h"

#include <gtest/gtest.h>

#include "hearth/tensor_literal.h"
#include "tests/support/files.h"

namespace hearth::data::datasets {
namespace {

using testing::TempFolder;
using testing::write_bytes;

/// A file of `count` images of 2 x 3 pixels.
std::string images(char count) {
  std::string bytes = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 2, 0, 0, 0, 3};
  for (int i = 0; i < count * 6; ++i) bytes += static_cast<char>(i);
  return bytes;
}
/// A file of labels, one byte each.
std::string labels(const std::string& values) {
  return std::string{0, 0, 8, 1, 0, 0, 0, static_cast<char>(values.size())} + values;
}

TEST(Mnist, ReadsImagesAndTargets) {
  const TempFolder folder;
  write_bytes(folder.path("train-images-idx3-ubyte"), images(2));
  write_bytes(folder.path("train-labels-idx1-ubyte"), labels("\3\1"));
  write_bytes(folder.path("t10k-images-idx3-ubyte"), images(1));
  write_bytes(folder.path("t10k-labels-idx1-ubyte"), labels("\7"));
  MNIST train(folder.str());
  EXPECT_TRUE(train.is_train());
  EXPECT_EQ(train.size(), 2U);
  EXPECT_TRUE(train.images().equal(arange(12, kFloat).div(255).view({2, 1, 2, 3})));
  EXPECT_TRUE(train.targets().equal(tensor({3, 1}, kLong)));
  EXPECT_TRUE(train.get(1).data.equal(train.images()[1]));
  EXPECT_EQ(train.get(1).target.item<int64_t>(), 1);
  MNIST test(folder.str(), MNIST::Mode::kTest);
  EXPECT_FALSE(test.is_train());
  EXPECT_EQ(test.get(0).target.item<int64_t>(), 7);
}

TEST(Mnist, ErrorsStateTheReason) {
  const TempFolder folder;
  const auto open = [&] { MNIST dataset(folder.str()); };
  EXPECT_ERROR(open(),
               "Error opening images file at " + folder.path("train-images-idx3-ubyte") +
                   ": neither it nor train-images-idx3-ubyte.gz exists. To get it: mkdir -p '" +
                   folder.str() + "' && cd '" + folder.str() + "' && for f");
  EXPECT_ERROR(FashionMNIST(folder.str()),
               "To get it: apt-get install dataset-fashion-mnist && mkdir -p '" + folder.str() +
                   "' && cp /usr/share/datasets/fashion-mnist/* '" + folder.str() + "'");
  write_bytes(folder.path("train-images-idx3-ubyte"), images(2));
  EXPECT_ERROR(open(), "Error opening targets file at");
  write_bytes(folder.path("train-labels-idx1-ubyte"), labels("\3"));
  EXPECT_ERROR(open(), "have 2 images but 1 labels");
  write_bytes(folder.path("train-labels-idx1-ubyte"), images(1));
  EXPECT_ERROR(open(), "at byte 2: expected 1 dimensions of Byte, but got Byte of sizes [1, 2, 3]");
  write_bytes(folder.path("train-labels-idx1-ubyte"), labels("\3\1").substr(0, 9));
  EXPECT_ERROR(open(), "train-labels-idx1-ubyte': at byte 9: expected 1 bytes more");
}

TEST(Mnist, ReadsTheDebianPackage) {
  if (!std::filesystem::exists(FashionMNIST::kDebianFolder)) GTEST_SKIP() << "no dataset";
  FashionMNIST test(MNIST::Mode::kTest);
  EXPECT_EQ(test.images().sizes(), IntArrayRef({10000, 1, 28, 28}));
  EXPECT_EQ(test.targets().bincount().min().item<int64_t>(), 1000);
  EXPECT_EQ(test.targets().bincount().max().item<int64_t>(), 1000);
  EXPECT_EQ(test.images().max().item<float>(), 1);
}

}  // namespace
}  // namespace hearth::data::datasets
