// --data: names and folders, and datasets that are refused.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

TEST(TrainData, NamesTakePrecedenceOverFolders) {
  const TempFolder folder;
  const InFolder here(folder.str());
  write_images("synthetic", 28, 28);
  const RunResult named = train({"--out", "named", "--limit", "100", "--epochs", "1"});
  ASSERT_EQ(named.status, 0) << named.err;
  EXPECT_NE(bytes_of("named/config.toml").find("data = 'synthetic'\n"), std::string::npos);
  const RunResult from_folder =
      run({"train", "--data", "./synthetic", "--out", "from-folder", "--epochs", "1"}, kOneThread);
  ASSERT_EQ(from_folder.status, 0) << from_folder.err;
  const std::string path = std::filesystem::canonical("synthetic").string();
  EXPECT_NE(bytes_of("from-folder/config.toml").find("data = '" + path + "'\n"), std::string::npos);
  EXPECT_NE((from_folder.out + from_folder.err).find("tutorial-cnn on " + path + ", 5 images"),
            std::string::npos);
  EXPECT_EQ(run({"train", "--resume", "from-folder"}, kOneThread).status, 0);
}

TEST(TrainData, PathsThatAreNotUtf8AreRefused) {
  const TempFolder folder;
  const InFolder here(folder.str());
  write_images("caf\xe9", 28, 28);
  const RunResult ran = run({"train", "--data", "caf\xe9", "--epochs", "1"}, kOneThread);
  expect_failure(ran, 2, "' is not UTF-8, which config.toml requires");
  EXPECT_FALSE(std::filesystem::exists("runs"));
  write_images("caf\xc3\xa9", 28, 28);
  EXPECT_EQ(run({"train", "--data", "caf\xc3\xa9", "--epochs", "1"}, kOneThread).status, 0);
}

TEST(TrainData, TestImagesOfAnotherSizeAreRefused) {
  const TempFolder folder;
  const std::string data = folder.path("data"), out = folder.path("out");
  write_images(data, 28, 32);
  const RunResult ran = run({"train", "--data", data, "--out", out, "--model", "mlp"}, kOneThread);
  expect_failure(ran, 1,
                 "hearth: the images of '" + data +
                     "/train-images-idx3-ubyte' are 28 x 28, but those of '" + data +
                     "/t10k-images-idx3-ubyte' are 32 x 32\n");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace hearth::testing
