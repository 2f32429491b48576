// What --data means, and what is refused when the images are read.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

TEST(TrainData, NamesWinOverFoldersAndAPathMeansTheFolder) {
  const TempFolder folder;
  const InFolder here(folder.str());
  write_images("synthetic", 28, 28);
  const Ran named = train({"--out", "named", "--limit", "100", "--epochs", "1"});
  ASSERT_EQ(named.status, 0) << named.err;
  EXPECT_NE(bytes_of("named/config.toml").find("data = 'synthetic'\n"), std::string::npos);
  const Ran meant =
      run({"train", "--data", "./synthetic", "--out", "meant", "--epochs", "1"}, kOneThread);
  ASSERT_EQ(meant.status, 0) << meant.err;
  const std::string path = std::filesystem::canonical("synthetic").string();
  EXPECT_NE(bytes_of("meant/config.toml").find("data = '" + path + "'\n"), std::string::npos);
  EXPECT_NE((meant.out + meant.err).find("seed-cnn on " + path + ", 5 images"), std::string::npos);
  EXPECT_EQ(run({"train", "--resume", "meant"}, kOneThread).status, 0);
}

TEST(TrainData, FoldersThatAreNotUtf8AreRefused) {
  const TempFolder folder;
  const InFolder here(folder.str());
  write_images("caf\xe9", 28, 28);
  const Ran ran = run({"train", "--data", "caf\xe9", "--epochs", "1"}, kOneThread);
  expect_failure(ran, 2, "' is not UTF-8, as what is written of a run must be");
  EXPECT_FALSE(std::filesystem::exists("runs"));
  write_images("caf\xc3\xa9", 28, 28);
  EXPECT_EQ(run({"train", "--data", "caf\xc3\xa9", "--epochs", "1"}, kOneThread).status, 0);
}

TEST(TrainData, TestImagesOfAnotherSizeAreRefusedWhenTheyAreRead) {
  const TempFolder folder;
  const std::string data = folder.path("data"), out = folder.path("out");
  write_images(data, 28, 32);
  const Ran ran = run({"train", "--data", data, "--out", out, "--model", "mlp"}, kOneThread);
  expect_failure(ran, 1,
                 "hearth: the images of '" + data +
                     "/train-images-idx3-ubyte' are 28 x 28, but those of '" + data +
                     "/t10k-images-idx3-ubyte' are 32 x 32\n");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace hearth::testing
