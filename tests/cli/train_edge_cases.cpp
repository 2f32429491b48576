// hearth train in edge cases: small last batches, limits, unusual tables and names, short runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "hearth/hearth.h"
#include "hearth/vision/image.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

namespace fs = std::filesystem;

using Flags = std::vector<std::string>;

RunResult train_on(const std::string& data, const std::string& out, const Flags& more) {
  Flags arguments{"train", "--data", data, "--out", out, "--model", "mlp", "--epochs", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments, kOneThread);
}

void expect_line(const RunResult& ran, const std::string& text) {
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find(text), std::string::npos) << ran.err;
}

/// Images of these classes, `count` of each.
void write_classes(const std::string& folder, const Flags& classes, int count) {
  for (size_t label = 0; label < classes.size(); ++label) {
    fs::create_directories(folder + "/" + classes[label]);
    for (int i = 0; i < count; ++i)
      vision::write_png(full({3, 8, 8}, static_cast<int64_t>(label * 50), kByte),
                        folder + "/" + classes[label] + "/" + std::to_string(i) + ".png");
  }
}

// Batch normalization refuses a batch of one image.
TEST(TrainEdgeCases, ALastImageJoinsTheBatchBeforeIt) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran = train({"--out", out, "--limit", "5", "--batch-size", "4", "--model",
                               "resnet18", "--epochs", "1", "--optimizer", "sgd", "--log-losses"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(rows_of_csv(out + "/run-1/losses.csv").size(), 1U);
}

TEST(TrainEdgeCases, ALimitTakesImagesOfAllClasses) {
  const TempFolder folder;
  const Flags classes{"a", "b", "c"};
  write_classes(folder.path("flat"), classes, 20);
  for (const char* set : {"train", "valid"}) write_classes(folder.path("two/") + set, classes, 20);
  for (const char* name : {"flat", "two"}) {
    const std::string out = folder.path(std::string("out-") + name);
    const RunResult ran = train_on("image-folder:" + folder.path(name), out,
                                   {"--limit", "12", "--image-size", "8", "--num-workers", "0"});
    expect_line(ran, "12 images to train and 12 to test");
    // Otherwise a note would say that classes have no training example.
    EXPECT_EQ(ran.err.find("no training"), std::string::npos) << ran.err;
  }
}

TEST(TrainEdgeCases, AFolderWithoutTestImagesIsNamed) {
  const TempFolder folder;
  write_classes(folder.path("photos/train"), {"a", "b"}, 2);
  expect_failure(
      train_on("image-folder:" + folder.path("photos"), folder.path("out"), {}), 1,
      "has a folder 'train' with classes, but no folder 'val', 'valid', 'validation' or 'test'");
}

std::string table_of(int first) {
  std::string text = "x,y,kind\n";
  for (int i = 0; i < 60; ++i)
    text +=
        std::to_string(first + i) + "," + std::to_string(i % 7) + (i < 30 ? ",low\n" : ",high\n");
  return text;
}

TEST(TrainEdgeCases, EvalStandardisesAnotherTableAsInTraining) {
  const TempFolder folder;
  write_bytes(folder.path("a.csv"), table_of(0));
  // Each x is far above all x of the first table, so the predicted class is always "high".
  write_bytes(folder.path("b.csv"), table_of(10000));
  const std::string out = folder.path("out");
  expect_line(train_on("csv:" + folder.path("a.csv"), out, {"--epochs", "20", "--batch-size", "8"}),
              "48 examples to train");
  const RunResult own = run({"eval", out}, kOneThread);
  EXPECT_NE(own.out.find("accuracy  1.0000"), std::string::npos) << own.out;
  const RunResult other = run({"eval", out, "--data", "csv:" + folder.path("b.csv")}, kOneThread);
  ASSERT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out.find("accuracy  1.0000"), std::string::npos) << other.out;
}

TEST(TrainEdgeCases, NumbersThatAreNotFiniteAreNamed) {
  const TempFolder folder;
  write_bytes(folder.path("t.csv"), "x,y,kind\n1,2,a\n3,inf,b\n5,6,a\n");
  expect_failure(train_on("csv:" + folder.path("t.csv"), folder.path("out"), {}), 1,
                 "a number that is not finite: row 2 after the names, column 2");
}

TEST(TrainEdgeCases, EvalRefusesATextWithOtherCharacters) {
  const TempFolder folder;
  std::string first, second;
  for (int i = 0; i < 700; ++i) first += "ab", second += "xy";
  write_bytes(folder.path("first.txt"), first);
  write_bytes(folder.path("second.txt"), second);
  const std::string out = folder.path("out");
  ASSERT_EQ(
      run({"train", "--data", "text:" + folder.path("first.txt"), "--out", out, "--epochs", "1"},
          kOneThread)
          .status,
      0);
  expect_failure(run({"eval", out, "--data", "text:" + folder.path("second.txt")}, kOneThread), 1,
                 "the classes of these examples have other names");
}

TEST(TrainEdgeCases, AShortRunSaysThatItHasNoProfile) {
  const TempFolder folder;
  const std::string trace = folder.path("trace.json");
  expect_line(
      train({"--out", folder.path("out"), "--limit", "100", "--epochs", "1", "--model", "mlp",
             "--profile", trace}),
      "--profile: nothing was written, because a profile needs 8 steps, but this run had 1");
  EXPECT_FALSE(fs::exists(trace));
}

TEST(TrainEdgeCases, SettingsThatCannotWorkAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  expect_failure(train({"--out", out, "--optimizer", "muon"}), 2, "unknown optimizer 'muon'");
  expect_failure(train({"--out", out, "--optimizer", "lbfgs", "--amp", "fp16"}), 2,
                 "lbfgs computes the loss several times in a step, which --amp fp16 cannot scale");
  expect_failure(train({"--out", out, "--optimizer", "lbfgs", "--batch-size", "auto"}), 2,
                 "--batch-size auto cannot predict the memory of lbfgs");
  expect_failure(train({"--out", out, "--limit", "400", "--scheduler", "onecycle:total_steps=9"}),
                 1, "onecycle:total_steps=9 is less than the 20 steps of this training");
}

TEST(TrainEdgeCases, NamesOfClassesAndPathsCannotControlTheTerminal) {
  const TempFolder folder;
  const std::string images = folder.path("images"), out = folder.path("out\x1b");
  write_classes(images, {"class\x1b[1m", "class\x1b[2m"}, 20);
  expect_line(train_on("image-folder:" + images, out, {"--image-size", "8", "--num-workers", "0"}),
              " to train");
  for (const Flags& command :
       {Flags{"eval", out}, Flags{"predict", out, images + "/class\x1b[1m"}}) {
    const RunResult ran = run(command, kOneThread);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ((ran.out + ran.err).find('\x1b'), std::string::npos) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(" class\\x1b["), std::string::npos) << ran.out;
  }

  const std::string table = folder.path("t\x1b.csv"), other = folder.path("other\x1b");
  write_bytes(table, table_of(0));
  expect_line(train_on("csv:" + table, other, {"--batch-size", "8"}), " to train");
  const RunResult ran = run({"predict", other, images}, kOneThread);
  expect_failure(ran, 1, "t\\x1b.csv'");
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << ran.err;

  const std::string junk = folder.path("junk\x1b.pt");
  write_bytes(junk, "junk!");
  for (const Flags& command : {Flags{"eval", junk}, Flags{"export", junk, folder.path("w.pt")},
                               Flags{"predict", junk, junk}}) {
    const RunResult failed = run(command, kOneThread);
    expect_failure(failed, 1, "junk\\x1b.pt'");
    EXPECT_EQ(failed.err.find('\x1b'), std::string::npos) << failed.err;
  }
}

TEST(TrainEdgeCases, EvalWritesFilesWhoseNamesAreNotUtf8) {
  const TempFolder folder;
  const std::string out = folder.path("out"), odd = folder.path("a\xff") + ".png";
  ASSERT_EQ(train({"--out", out, "--limit", "20", "--epochs", "1", "--model", "mlp"}).status, 0);
  const RunResult ran = run({"eval", out, "--json", "--picture", odd}, kOneThread);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(fs::exists(odd));
}

}  // namespace
}  // namespace hearth::testing
